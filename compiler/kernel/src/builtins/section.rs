//! A section of the reference page: rows of one kind, and the kernel that runs their examples.

use super::row::{Gives, Known, Row, Stages};

/// A section of the reference page.
pub struct Section {
    pub title: &'static str,
    /// A remark on all its functions, in Markdown.
    pub about: &'static str,
    pub rows: Rows,
    /// The kernel that runs the examples.
    pub setup: Setup,
}

pub enum Rows {
    Functions(&'static [Row]),
    Names(&'static [Name]),
    Constants(&'static [Constant]),
}

/// A name that is no function.
pub struct Name {
    /// The form on the page: `Vector(n, T)`.
    pub name: &'static str,
    /// A description in Markdown.
    pub doc: &'static str,
}

impl Name {
    /// Without the part in brackets.
    pub fn bare(&self) -> &'static str {
        self.name.split(['(', '[']).next().unwrap_or(self.name)
    }
}

/// The kernel that runs the examples of a section, of one workgroup with one axis.
pub struct Setup {
    /// Declarations, as a kernel has them.
    pub params: &'static str,
    /// The argument in scripts.
    pub args: &'static str,
    /// Statements before each example.
    pub lines: &'static [&'static str],
    pub local_size: u32,
    /// The invocation that prints the value of an example.
    pub printing: &'static str,
}

impl Section {
    /// A kernel that runs the example of a row and prints its value; `None` where no kernel has the function.
    pub fn example(&self, row: &Row) -> Option<String> {
        let Setup { params, lines, local_size, printing, .. } = self.setup;
        let example = row.example;
        let shown = match (row.result, printing) {
            _ if row.stages == Stages::Fragment => return None,
            (Gives::Nothing, _) => example.to_owned(),
            _ if example.starts_with("for ") => example.to_owned(),
            (_, "") => format!("print({example})"),
            (_, printing) => format!("result = {example}\n    if {printing}:\n        print(result)"),
        };
        let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
        Some(format!(
            "@kernel(local_size=({local_size}, 1, 1))\ndef example({params}):\n{lines}    {shown}\n"
        ))
    }
}

/// A kernel of one invocation without parameters.
pub const ALONE: Setup = Setup { params: "", args: "", lines: &[], local_size: 1, printing: "" };

/// A constant of `math`.
pub struct Constant {
    pub name: &'static str,
    pub value: f64,
    pub known: Known,
    pub doc: &'static str,
}
