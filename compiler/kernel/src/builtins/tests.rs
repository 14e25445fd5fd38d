//! Rules of the rows that the types do not express.

use std::collections::BTreeSet;

use super::row::{Kind, Row};
use super::typing::Typing;
use super::{Known, Rows, SECTIONS, constants, function, library, lookup, names, rows};
use crate::ir::Body;
use crate::library::function as library_function;

fn all() -> impl Iterator<Item = &'static Row> {
    rows().chain(library::ROWS)
}

#[test]
fn names_are_unique() {
    let mut seen = BTreeSet::new();
    let functions = all().flat_map(|row| row.names.iter().copied());
    let constants = constants().iter().map(|constant| constant.name);
    let others = SECTIONS.iter().flat_map(|section| match section.rows {
        Rows::Names(names) => names.iter().map(|name| name.bare()).collect(),
        Rows::Functions(_) | Rows::Constants(_) => Vec::new(),
    });
    for name in functions.chain(constants).chain(others) {
        assert!(seen.insert(name), "two rows have the name `{name}`");
    }
}

#[test]
fn every_bare_name_is_known() {
    for name in names().filter(|name| *name != "Array") {
        assert!(lookup(name).is_some(), "`{name}` means nothing");
    }
}

#[test]
fn a_doc_line_is_one_sentence() {
    for row in rows() {
        let (name, doc) = (row.name(), row.doc);
        let is_one = doc.ends_with('.') && !doc.trim_end_matches('.').contains(". ");
        let starts = doc.trim_start_matches('[').starts_with(|first: char| first.is_uppercase());
        assert!(is_one && starts, "`{name}` is documented by one sentence, not by `{doc}`");
        assert!(doc.split(' ').count() <= 25, "the sentence on `{name}` has more than 25 words");
    }
}

#[test]
fn every_example_calls_its_function() {
    for row in rows() {
        let call = format!("{}(", row.name());
        assert!(row.example.contains(&call), "the example of `{}` is `{}`", row.name(), row.example);
    }
}

#[test]
fn parameters_are_in_order() {
    // Required ones, then optional ones, then any number of others or those that are passed by name.
    for row in all() {
        let needs: Vec<u8> = row.params.iter().map(|param| param.rank()).collect();
        assert!(needs.is_sorted(), "the parameters of `{}` are not in order", row.name());
        let mut names: Vec<&str> = row.params.iter().map(|param| param.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), row.params.len(), "two parameters of `{}` have one name", row.name());
    }
}

#[test]
fn the_library_has_the_functions_of_the_rows() {
    let check = |row: &Row, name: &str| {
        library_function(name).unwrap_or_else(|| panic!("`{}` needs `{name}` in a chapter", row.name()))
    };
    for row in all() {
        match row.typing {
            Typing::Floats(floats) => {
                for body in [floats.single, floats.double] {
                    if let Body::Library(name) | Body::LibraryOf(name, _) = body {
                        let found = check(row, name);
                        assert!(
                            found.def.params.iter().count() >= row.params.len(),
                            "parameters of `{name}`"
                        );
                    }
                }
            }
            Typing::Library(name, _) => {
                let found = check(row, name);
                let is_variadic = found.def.params.var_positional.is_some();
                let has_rest = row.params.iter().any(|param| param.name == "..");
                assert_eq!(is_variadic, has_rest, "parameters of `{name}`");
                let n_positional = row.params.iter().filter(|param| param.rank() < 2).count();
                assert_eq!(found.def.params.regular.len(), n_positional, "parameters of `{name}`");
            }
            _ => {}
        }
    }
}

#[test]
fn numbers_are_tested_against_true_results() {
    let of_numbers = [Kind::Number, Kind::Int, Kind::OneNumber, Kind::WholeNumber, Kind::Float, Kind::Items];
    for row in rows() {
        let kinds = row.params.iter().map(|param| param.kind);
        let is_of_numbers = !row.params.is_empty() && kinds.clone().all(|kind| of_numbers.contains(&kind));
        assert!(
            !is_of_numbers || !row.floats.is_empty() || !row.exact.is_empty(),
            "the row of `{}` lists no call for the conformance test: write one under `floats` or `exact`",
            row.name()
        );
    }
}

#[test]
fn names_of_other_languages_are_no_names_here() {
    let mut seen = BTreeSet::new();
    for name in rows().flat_map(|row| row.external).flat_map(|(names, _)| *names) {
        assert!(seen.insert(name), "`{name}` is in two rows");
        let known =
            function(name).is_some_and(|known| known.known != Known::Math && known.known != Known::Member);
        assert!(!known, "kernels know `{name}` by itself");
    }
}
