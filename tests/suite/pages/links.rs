//! Checks that links of the pages have a target.

use std::path::{Path, PathBuf};

use crate::{Failure, root};

/// The targets of a page's links, without those to other sites.
fn targets(page: &Path) -> Result<Vec<String>, Failure> {
    let text = prose(&std::fs::read_to_string(page)?);
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    Ok(links.filter(|link| !link.contains("://")).map(str::to_owned).collect())
}

/// A page without its code.
fn prose(text: &str) -> String {
    let outside = text.split("```").step_by(2);
    outside.flat_map(|text| text.split('`').step_by(2)).collect()
}

/// Each link is a file, or a heading of its page.
pub fn lead_somewhere(pages: &[PathBuf]) -> Result<(), Failure> {
    let mut broken = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(page)?;
        for target in targets(page)? {
            let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
            let leads = match file {
                "" => headings(&text).any(|found| found == heading),
                file => page.with_file_name(file).exists(),
            };
            if !leads {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failure(broken.join("\n"))),
    }
}

/// Each source file that a page names in backquotes is there. A page may leave out the folders before it.
pub fn files_exist(pages: &[PathBuf]) -> Result<(), Failure> {
    const ENDINGS: [&str; 4] = [".rs", ".lalrpop", ".kps", ".md"];
    let sources = ["compiler", "runtime", "repl", "stdlib", "tests", "examples", "docs"];
    let endings = ENDINGS.map(|ending| &ending[1..]);
    let files: Vec<PathBuf> = sources.iter().flat_map(|folder| crate::files(folder, &endings)).collect();
    let mut missing = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(page)?;
        let prose: String = text.split("```").step_by(2).collect();
        for name in prose.split('`').skip(1).step_by(2).filter(|name| name.contains('/')) {
            // `NAME.rs` and `library/*.kps` are patterns.
            let is_file = ENDINGS.iter().any(|ending| name.ends_with(ending)) && !name.contains([' ', '*']);
            if is_file && !name.contains("NAME") && !files.iter().any(|file| file.ends_with(name)) {
                missing.push(format!("{}: {name}", page.display()));
            }
        }
    }
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Failure(missing.join("\n"))),
    }
}

/// The headings of a page, as link fragments.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = text.lines().filter_map(|line| line.strip_prefix('#'));
    titles.map(|title| {
        let kept = title.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    })
}

/// mdBook only builds the pages in the summary.
pub fn are_in_summary(pages: &[PathBuf]) -> Result<(), Failure> {
    let book = root().join("docs/src");
    let listed = targets(&book.join("SUMMARY.md"))?;
    let in_book = pages.iter().filter_map(|page| page.strip_prefix(&book).ok());
    let missing: Vec<String> = in_book
        .map(|page| page.display().to_string())
        .filter(|page| page != "SUMMARY.md" && !listed.contains(page))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("SUMMARY.md lacks {missing:?}"))),
    }
}
