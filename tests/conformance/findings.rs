//! Collects the wrong results in one column of one type, row by row.

use crate::columns::Column;

/// Limit of examples for a row.
const MAX_EXAMPLES: usize = 3;

pub struct Findings {
    ty: String,
    column: Column,
    rows: Vec<String>,
}

impl Findings {
    pub fn new(ty: String, column: Column) -> Findings {
        Findings { ty, column, rows: Vec::new() }
    }

    /// Adds a row that was run; `wrong` are its examples.
    pub fn add(&mut self, call: &str, wrong: &[String]) {
        if !wrong.is_empty() {
            self.rows.push(text(call, wrong));
        }
    }

    pub fn end(self) -> Result<(), String> {
        if self.rows.is_empty() {
            return Ok(());
        }
        Err(format!("{} on {}:\n{}", self.ty, self.column.name(), self.rows.join("\n")))
    }
}

fn text(call: &str, wrong: &[String]) -> String {
    let examples = wrong[..wrong.len().min(MAX_EXAMPLES)].join("\n    ");
    match wrong.len().saturating_sub(MAX_EXAMPLES) {
        0 => format!("{call}\n    {examples}"),
        more => format!("{call}\n    {examples}\n    and {more} more"),
    }
}
