//! The vocabulary: no name, comment, message or page uses a word that the glossary of CONTRIBUTING retired.
//!
//! The glossary is the list. The words of its first column that are in backquotes are retired everywhere; the others
//! are retired in one sense only, which no test can see. Cases are programs of users, so they may use any word.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;

use crate::{Failure, files, root};

const GLOSSARY: &str = "CONTRIBUTING.md";

/// What is read, from the root of the repository.
const FOLDERS: [&str; 7] = ["compiler", "docs", "examples", "repl", "runtime", "stdlib", "tests"];
const PAGES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", GLOSSARY];
const ENDINGS: [&str; 5] = ["rs", "md", "kps", "lalrpop", "toml"];

pub fn trials() -> Vec<Trial> {
    vec![Trial::test("words/no retired word is in use", || Ok(no_retired_word()?))]
}

fn no_retired_word() -> Result<(), Failure> {
    let retired = retired(&fs::read_to_string(root().join(GLOSSARY))?);
    if retired.is_empty() {
        return Err(Failure(format!("{GLOSSARY} has no glossary")));
    }
    let in_folders = FOLDERS.iter().flat_map(|folder| files(folder, &ENDINGS));
    let all = in_folders.chain(PAGES.iter().map(|page| root().join(page)));
    let mut found = Vec::new();
    for path in all.filter(|path| is_read(path)) {
        let text = fs::read_to_string(&path)?;
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let lines = std::iter::once(name.as_str()).chain(text.lines());
        let is_glossary = name == GLOSSARY;
        for (line, text) in lines.enumerate().filter(|(_, text)| !(is_glossary && text.starts_with('|'))) {
            for (word, instead) in used(text, &retired) {
                found.push(format!("{name}:{line}: `{word}` is retired; write: {instead}"));
            }
        }
    }
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure(found.join("\n"))),
    }
}

/// Not the programs of cases, and not what was built.
fn is_read(path: &Path) -> bool {
    !path.components().any(|part| ["cases", "target"].iter().any(|folder| part.as_os_str() == *folder))
}

/// The words and phrases in backquotes of the glossary's first column, with what to write.
fn retired(page: &str) -> BTreeMap<String, String> {
    let glossary = page.split("## Glossary").nth(1).unwrap_or_default();
    let mut retired = BTreeMap::new();
    for row in glossary.lines().filter(|line| line.starts_with('|')) {
        let mut cells = row.split('|').skip(1).map(str::trim);
        if let (Some(words), Some(instead)) = (cells.next(), cells.next()) {
            let quoted = words.split('`').skip(1).step_by(2);
            retired.extend(quoted.map(|word| (word.to_owned(), instead.to_owned())));
        }
    }
    retired
}

/// The retired words and phrases of a line.
fn used<'r>(line: &str, retired: &'r BTreeMap<String, String>) -> Vec<(&'r str, &'r str)> {
    let words = words(line);
    let text = format!(" {} ", words.join(" "));
    let is_used = |word: &str| text.contains(&format!(" {word} "));
    retired.iter().filter(|(word, _)| is_used(word)).map(|(word, instead)| (&**word, &**instead)).collect()
}

/// The words of a text in lower case; `is_kept` and `KeptOf` have two each.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in line.chars() {
        let starts_word = letter.is_uppercase() && was_lower;
        if starts_word || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
