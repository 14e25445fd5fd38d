//! What was found wrong in one column of one type, told row by row.

use crate::columns::Column;

/// Examples of a row that are told.
const TOLD: usize = 3;

pub struct Findings {
    ty: String,
    column: Column,
    rows: Vec<String>,
}

impl Findings {
    pub fn new(ty: String, column: Column) -> Findings {
        Findings { ty, column, rows: Vec::new() }
    }

    /// A row was run; `wrong` are its examples.
    pub fn add(&mut self, call: &str, wrong: &[String]) {
        if !wrong.is_empty() {
            self.rows.push(told(call, wrong));
        }
    }

    pub fn end(self) -> Result<(), String> {
        if self.rows.is_empty() {
            return Ok(());
        }
        Err(format!("{} on {}:\n{}", self.ty, self.column.name(), self.rows.join("\n")))
    }
}

fn told(call: &str, wrong: &[String]) -> String {
    let examples = wrong[..wrong.len().min(TOLD)].join("\n    ");
    match wrong.len().saturating_sub(TOLD) {
        0 => format!("{call}\n    {examples}"),
        more => format!("{call}\n    {examples}\n    and {more} more"),
    }
}
