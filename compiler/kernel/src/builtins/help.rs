//! The text of `help` for built-in names of kernels.

use super::SECTIONS;
use super::constants::CONSTANTS;
use super::row::{Function, Gives, Kind, Known, Row};
use super::section::Rows;

/// The help for a bare name or a member of `math`: parameters, result, description and example.
pub fn help(name: &str) -> Option<String> {
    let bare = name.strip_prefix("math.").or(name.strip_prefix("stdlib.")).unwrap_or(name);
    if let Some(function) = super::function(bare).filter(|function| function.known != Known::Library) {
        return Some(of_function(function));
    }
    if let Some(constant) = CONSTANTS.iter().find(|constant| constant.name == bare) {
        return Some(format!("math.{bare}: a constant of kernels\n    {}\n", constant.doc));
    }
    let names = SECTIONS.iter().flat_map(|section| match section.rows {
        Rows::Names(names) => names.iter().map(|name| (section.title, name)).collect(),
        Rows::Functions(_) | Rows::Constants(_) => Vec::new(),
    });
    let (title, known) = names.into_iter().find(|(_, known)| known.bare() == bare)?;
    let what = if title == "Types" { "a type of kernels" } else { "a place in a launch" };
    Some(format!("{}: {what}\n    {}\n", known.name, known.doc))
}

fn of_function(function: Function) -> String {
    let row = function.row();
    let mut text = format!("{}: a function of kernels\n    {}\n", row.signature(), plain(row.doc));
    if let [_, others @ ..] = row.names
        && !others.is_empty()
    {
        text.push_str(&format!("    other names: {}\n", others.join(", ")));
    }
    if let Some(takes) = takes(row) {
        text.push_str(&format!("    takes: {takes}\n"));
    }
    text.push_str(&format!("    gives: {}\n", gives(row)));
    text.push_str(&format!("    example: {}\n", row.example));
    text
}

fn takes(row: &Row) -> Option<&'static str> {
    let kind = row.params.first().map(|param| param.kind).filter(|kind| *kind != Kind::Any)?;
    row.params.iter().all(|param| param.kind == kind).then(|| kind.words())
}

fn gives(row: &Row) -> &'static str {
    match row.result {
        Gives::Same => "the type of its arguments",
        Gives::Scalar => "one number",
        Gives::Bool => "a bool",
        Gives::Bools => "a bool, or one for each component",
        Gives::Int => "an i32",
        Gives::Ints => "an i32, or one for each component",
        Gives::Nothing => "nothing: a call is a statement",
        Gives::Other(words) => words,
    }
}

/// Markdown without the targets of links.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once('[')
        && let Some((label, behind)) = link.split_once("](")
        && let Some((_, behind)) = behind.split_once(')')
    {
        text.push_str(before);
        text.push_str(label);
        rest = behind;
    }
    text + rest
}
