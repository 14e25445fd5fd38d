//! The corpus of texts: every script of the project's cases and examples.

use std::path::{Path, PathBuf};

pub struct Corpus {
    pub texts: Vec<String>,
    /// Functions and classes of all texts, with their decorators.
    pub definitions: Vec<String>,
    /// Valid kernels among them.
    pub kernels: Vec<String>,
}

/// Folders of scripts, relative to the root of the project.
const FOLDERS: [&str; 6] = [
    "tests/cases",
    "tests/witness/cases",
    "tests/benches/kernels",
    "examples",
    "compiler/kernel/tests/cases",
    "runtime/host/tests/cases",
];

impl Corpus {
    /// The corpus of the project around `KPS_FUZZ_CORPUS`, or else around the current directory.
    pub fn find() -> Corpus {
        let start = match std::env::var_os("KPS_FUZZ_CORPUS") {
            Some(folder) => PathBuf::from(folder),
            None => std::env::current_dir().expect("there is a current directory"),
        };
        let root = start.ancestors().find(|folder| folder.join(FOLDERS[0]).is_dir());
        let root = root.unwrap_or_else(|| panic!("{}: no `{}` is there", start.display(), FOLDERS[0]));
        let mut paths = Vec::new();
        FOLDERS.iter().for_each(|folder| find_scripts(&root.join(folder), &mut paths));
        paths.sort();
        assert!(paths.len() > 100, "{}: the cases are there", root.display());
        let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a case is text");
        let texts: Vec<String> = paths.iter().map(read).collect();
        let is_kernel = |text: &String| text.contains("@kernel") || text.contains("@python2shader");
        let is_right = |path: &PathBuf| !path.components().any(|folder| folder.as_os_str() == "errors");
        let right = paths.iter().zip(&texts).filter(|(path, _)| is_right(path));
        let kernels = right.flat_map(|(_, text)| definitions(text)).filter(is_kernel).collect();
        let definitions = texts.iter().flat_map(|text| definitions(text)).collect();
        Corpus { texts, definitions, kernels }
    }
}

fn find_scripts(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find_scripts(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "kps") {
            paths.push(path);
        }
    }
}

/// Functions and classes that begin at the left margin.
fn definitions(text: &str) -> Vec<String> {
    let is_head = |line: &str| line.starts_with(['@', 'd', 'c']);
    let mut found: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in text.lines().chain(["end"]) {
        let is_inner = line.is_empty() || line.starts_with([' ', ')', '#']);
        let is_decorated = open.lines().last().is_some_and(|last| last.starts_with('@'));
        if !is_inner && !is_decorated {
            let whole = std::mem::take(&mut open);
            let is_definition =
                whole.lines().any(|line| line.starts_with("def ") || line.starts_with("class "));
            found.extend(is_definition.then_some(whole));
        }
        if is_inner && !open.is_empty() || is_head(line) {
            open += line;
            open.push('\n');
        }
    }
    found
}
