//! What was found wrong in one column of one type, told row by row.

use crate::columns::Column;
use crate::known::KNOWN;

/// Examples of a row that are told.
const TOLD: usize = 3;

pub struct Findings {
    ty: String,
    column: Column,
    rows: Vec<String>,
    /// Known differences that were looked for, and whether they were seen.
    known: Vec<(String, usize, bool)>,
}

impl Findings {
    pub fn new(ty: String, column: Column) -> Findings {
        Findings { ty, column, rows: Vec::new(), known: Vec::new() }
    }

    /// A row was run; `wrong` are its examples.
    pub fn add(&mut self, call: &str, wrong: &[String]) {
        if let Some(at) =
            KNOWN.iter().position(|known| known.covers(call, &self.ty, self.column, wrong.len()))
        {
            return self.known.push((call.to_owned(), at, !wrong.is_empty()));
        }
        if !wrong.is_empty() {
            self.rows.push(told(call, wrong));
        }
    }

    pub fn end(mut self) -> Result<(), String> {
        for (call, at, was_seen) in &self.known {
            if !was_seen {
                let why = KNOWN[*at].why;
                self.rows.push(format!("{call}\n    is right now, and still listed as: {why}"));
            }
        }
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
