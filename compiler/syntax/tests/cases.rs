//! Parses every file under `cases/` and compares the result with the file beside it.
//!
//! `cases/ok/*.kps` parse without an error and have their tree in `.ast`; `cases/errors/*.kps` have their
//! errors in `.err`. `UPDATE=1 cargo test -p kps-syntax --test cases` writes these files.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use kps_snapshots::{cases, compare};
use kps_syntax::{Diagnostics, Location, Source, dump, parse};

#[test]
fn trees() {
    check("ok", "ast", |source| {
        let (module, diagnostics) = parse(source);
        assert!(diagnostics.is_empty(), "{}:\n{}", source.name(), render(&diagnostics));
        dump(&module)
    });
}

#[test]
fn errors() {
    check("errors", "err", |source| {
        let (_, diagnostics) = parse(source);
        assert!(diagnostics.has_errors(), "{} holds no mistake", source.name());
        render(&diagnostics)
    });
}

/// Runs `produce` on every case of a folder and compares with the files of this extension.
fn check(folder: &str, extension: &str, produce: impl Fn(&Source) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let mut failed = Vec::new();
    for case in cases(&folder, &["kps"]) {
        let name = case.file_name().expect("a case is a file").to_string_lossy();
        let text = fs::read_to_string(&case).expect("cases are UTF-8");
        let produced = produce(&Source::new(name, text));
        failed.extend(compare(&case.with_extension(extension), &produced).err());
    }
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed.join("\n"));
}

/// All that a diagnostic holds, a line for each part.
fn render(diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter() {
        writeln!(out, "{}: {}", diagnostic.code, diagnostic.message).expect("a string can be written to");
        for label in &diagnostic.labels {
            let line = format!("  at {} {}", place(&label.location), label.text);
            writeln!(out, "{}", line.trim_end()).expect("a string can be written to");
        }
        if let Some(help) = &diagnostic.help {
            writeln!(out, "  help: {help}").expect("a string can be written to");
        }
        if let Some(fix) = &diagnostic.fix {
            let (at, replacement) = (place(&fix.location), &fix.replacement);
            writeln!(out, "  fix: {at} -> {replacement:?}").expect("a string can be written to");
        }
    }
    out
}

/// `line:column`, and the text there.
fn place(Location { source, span }: &Location) -> String {
    let (line, column) = source.line_column(span.start);
    format!("{line}:{column} {:?}", source.slice(*span))
}
