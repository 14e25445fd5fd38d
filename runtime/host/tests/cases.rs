//! Runs every `cases/*.kps` in a new host. Its output and its error are in the `.out` file beside it.
//! `UPDATE=1` writes those files.

use std::path::{Path, PathBuf};

use kps::{Host, Outcome, Program};
use kps_snapshots::{Sink, compare};
use kps_syntax::Diagnostic;

fn run(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("the case can be read");
    let name = file.file_name().expect("a case has a name").to_string_lossy().into_owned();
    let sink = Sink::default();
    let folder = file.parent().expect("a case lies in a folder");
    let mut host = Host::builder().output(sink.clone()).module_path(folder.join("modules")).build();
    let result = Program::parse(name, text).and_then(|program| host.run(&program));
    let ended = host.end();
    let result = result.and_then(|outcome| ended.map(|()| outcome));
    let mut out = sink.take();
    match result {
        Ok(Outcome::Finished) => {}
        Ok(Outcome::Exit(code)) => out.push_str(&format!("exit {code}\n")),
        Err(diagnostics) => diagnostics.iter().for_each(|diagnostic| render(diagnostic, &mut out)),
    }
    out
}

fn render(diagnostic: &Diagnostic, out: &mut String) {
    for frame in &diagnostic.trace {
        let (line, column) = frame.location.source.line_column(frame.location.span.start);
        let place = frame.location.source.slice(frame.location.span).lines().next().unwrap_or("");
        let name = frame.location.source.name().rsplit('/').next().unwrap_or("");
        let times = if frame.times == 1 { String::new() } else { format!(" ({} times)", frame.times) };
        out.push_str(&format!("  {name}:{line}:{column} in {}{times}: {place}\n", frame.function));
    }
    let place = diagnostic.location().map(|location| {
        let (line, column) = location.source.line_column(location.span.start);
        format!("{}:{line}:{column}: ", location.source.name().rsplit('/').next().unwrap_or(""))
    });
    out.push_str(&format!("{}{} [{}]\n", place.unwrap_or_default(), diagnostic.message, diagnostic.code));
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!("  help: {help}\n"));
    }
    if let Some(cause) = &diagnostic.cause {
        out.push_str("from:\n");
        render(cause, out);
    }
}

/// The scripts in a folder and its subfolders; `modules` has what cases import.
fn scripts_in(folder: &Path) -> Vec<PathBuf> {
    let mut scripts = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of cases is there") {
        let path = entry.expect("a case can be listed").path();
        if path.is_dir() && !path.ends_with("modules") {
            scripts.extend(scripts_in(&path));
        } else if path.extension().is_some_and(|ending| ending == "kps") {
            scripts.push(path);
        }
    }
    scripts
}

#[test]
fn cases_print_their_expected_output() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let only = std::env::var("CASE").ok();
    let mut files: Vec<PathBuf> = scripts_in(&folder)
        .into_iter()
        .filter(|path| only.as_ref().is_none_or(|only| path.display().to_string().contains(only)))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are cases");
    let mut failed = Vec::new();
    for file in files {
        failed.extend(compare(&file.with_extension("out"), &run(&file)).err());
    }
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}
