//! The context of a line of a script: the functions, loops and branches that contain it.

use kps_syntax::Source;
use kps_syntax::ast::{Module, Stmt, StmtKind};

/// A construct that contains a line, with its first and last line; of a branch, those of its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enclosing {
    pub kind: Kind,
    pub first: u32,
    pub last: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Function(String),
    Loop,
    /// A branch of an `if`, or a case of a `match`, and the range of the whole statement.
    Branch {
        first: u32,
        last: u32,
    },
}

impl Enclosing {
    /// The lines of the whole statement.
    pub fn whole(&self) -> (u32, u32) {
        match self.kind {
            Kind::Branch { first, last } => (first, last),
            Kind::Function(_) | Kind::Loop => (self.first, self.last),
        }
    }

    /// Whether this is a branch of an `if` or a `match` that also contains the line, or has a condition on
    /// it.
    pub fn is_side_of_what_has(&self, line: u32) -> bool {
        matches!(self.kind, Kind::Branch { first, last } if (first..=last).contains(&line))
    }
}

pub struct Lines {
    source: Source,
    module: Module,
}

impl Lines {
    pub fn of(source: &Source) -> Lines {
        Lines { source: source.clone(), module: kps_syntax::parse(source).0 }
    }

    /// All that a line is in, the outermost first.
    pub fn around(&self, line: u32) -> Vec<Enclosing> {
        let mut around = Vec::new();
        let mut block: Option<&[Stmt]> = Some(&self.module.body);
        while let Some(stmts) = block.take() {
            for stmt in stmts.iter().filter(|stmt| self.range(stmt).contains(&line)) {
                block = self.enter(stmt, line, &mut around);
            }
        }
        around
    }

    /// The block of a statement that contains a line, and its kind.
    fn enter<'m>(&self, stmt: &'m Stmt, line: u32, around: &mut Vec<Enclosing>) -> Option<&'m [Stmt]> {
        let whole = self.range(stmt);
        let (first, last) = (*whole.start(), *whole.end());
        let is_in =
            |block: &&'m Vec<Stmt>| self.block_lines(block).is_some_and(|(a, b)| a <= line && line <= b);
        let (kind, blocks): (Option<Kind>, Vec<&'m Vec<Stmt>>) = match &stmt.kind {
            StmtKind::Function(def) => (Some(Kind::Function(def.name.name.to_string())), vec![&def.body]),
            StmtKind::Class(class) => (None, vec![&class.body]),
            StmtKind::While { body, orelse, .. } | StmtKind::For { body, orelse, .. } => {
                (Some(Kind::Loop), vec![body, orelse])
            }
            StmtKind::If { branches, orelse } => {
                let blocks = branches.iter().map(|branch| &branch.body).chain([orelse]);
                (Some(Kind::Branch { first, last }), blocks.collect())
            }
            StmtKind::Match { cases, .. } => {
                (Some(Kind::Branch { first, last }), cases.iter().map(|case| &case.body).collect())
            }
            StmtKind::With { body, .. } => (None, vec![body]),
            StmtKind::Try(tried) => (None, vec![&tried.body, &tried.orelse, &tried.finally]),
            _ => (None, Vec::new()),
        };
        let block = blocks.into_iter().find(is_in);
        match (kind, block) {
            (Some(kind @ Kind::Branch { .. }), Some(block)) => {
                let (first, last) = self.block_lines(block)?;
                around.push(Enclosing { kind, first, last });
            }
            // A condition is tested in every iteration; the other conditions are outside of the branch.
            (Some(Kind::Branch { .. }), None) | (None, _) => {}
            (Some(kind), _) => around.push(Enclosing { kind, first, last }),
        }
        block.map(Vec::as_slice)
    }

    /// The `if` or `match` with a condition on a line, as a context of that line.
    pub fn tested_on(&self, line: u32) -> Option<Enclosing> {
        let mut stmts = &self.module.body[..];
        loop {
            let stmt = stmts.iter().find(|stmt| self.range(stmt).contains(&line))?;
            let is_in =
                |block: &&[Stmt]| self.block_lines(block).is_some_and(|(a, b)| a <= line && line <= b);
            let bodies = match &stmt.kind {
                StmtKind::Function(def) => vec![&def.body[..]],
                StmtKind::Class(class) => vec![&class.body[..]],
                _ => stmt.blocks(),
            };
            match bodies.into_iter().find(is_in) {
                Some(block) => stmts = block,
                None => {
                    let (first, last) = (*self.range(stmt).start(), *self.range(stmt).end());
                    let is_test = matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Match { .. });
                    let kind = Kind::Branch { first, last };
                    return is_test.then_some(Enclosing { kind, first, last });
                }
            }
        }
    }

    /// The line of the last `return` before a line in its function.
    pub fn return_before(&self, line: u32) -> Option<u32> {
        let is_before =
            |stmt: &&Stmt| matches!(stmt.kind, StmtKind::Return(_)) && *self.range(stmt).end() < line;
        let mut open: Vec<&Stmt> = self.function_body(&self.module.body, line)?.iter().collect();
        let mut last = None;
        while let Some(stmt) = open.pop() {
            last = last.max(Some(stmt).filter(is_before).map(|stmt| *self.range(stmt).start()));
            open.extend(stmt.blocks().into_iter().flatten());
        }
        last
    }

    /// The body of the innermost function that a line is in.
    fn function_body<'m>(&self, stmts: &'m [Stmt], line: u32) -> Option<&'m [Stmt]> {
        let stmt = stmts.iter().find(|stmt| self.range(stmt).contains(&line))?;
        match &stmt.kind {
            StmtKind::Function(def) => Some(self.function_body(&def.body, line).unwrap_or(&def.body)),
            StmtKind::Class(class) => self.function_body(&class.body, line),
            _ => stmt.blocks().into_iter().find_map(|block| self.function_body(block, line)),
        }
    }

    fn block_lines(&self, block: &[Stmt]) -> Option<(u32, u32)> {
        Some((*self.range(block.first()?).start(), *self.range(block.last()?).end()))
    }

    fn range(&self, stmt: &Stmt) -> std::ops::RangeInclusive<u32> {
        self.source.line(stmt.span.start)..=self.source.line(stmt.span.end.max(stmt.span.start + 1) - 1)
    }
}

/// The contents of the brackets after each mention of an array on a line, if they close there.
pub fn indices_on(line: &str, array: &str) -> Vec<String> {
    let code = line.split('#').next().unwrap_or("");
    let mut indices: Vec<String> = Vec::new();
    for (at, _) in code.match_indices(array) {
        let is_part = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let Some(inner) = code[at + array.len()..].strip_prefix('[').filter(|_| !is_part) else { continue };
        let mut depth = 1;
        let end = inner.find(|c| {
            depth += i32::from("[(".contains(c)) - i32::from("])".contains(c));
            depth == 0
        });
        if let Some(end) = end {
            indices.push(inner[..end].trim().to_owned());
        }
    }
    indices.sort();
    indices.dedup();
    indices
}
