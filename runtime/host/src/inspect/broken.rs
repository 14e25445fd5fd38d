//! Extracts the part of a script with syntax errors that can still be checked.
//!
//! A tree with the parser's repairs goes in; out comes one without the repaired statements, because their
//! intended meaning is unknown. A kernel retains its other statements, down to the innermost intact one,
//! unless the error may have moved the boundaries of blocks. Names in removed statements may be defined by
//! them.

use std::collections::HashSet;
use std::sync::Arc;

use kps_syntax::ast::*;
use kps_syntax::{Diagnostic, Diagnostics, Severity, Source, Span};

use super::decoration::is_kernel;

/// Errors after which a block may end at another line than intended.
const OF_LAYOUT: [&str; 11] = [
    "syntax/else-if",
    "syntax/mismatched-bracket",
    "syntax/missing-block",
    "syntax/mixed-braces",
    "syntax/mixed-tabs",
    "syntax/stray-backslash",
    "syntax/stray-clause",
    "syntax/too-many-indents",
    "syntax/unexpected-indent",
    "syntax/unmatched-unindent",
    "syntax/unterminated-string",
];

pub(super) struct Broken<'s> {
    source: &'s Source,
    mistakes: Vec<Mistake>,
    /// Names in the removed statements.
    names: HashSet<&'s str>,
    /// Names that they assign to, and where: their type may have changed.
    assigned: HashSet<(u32, &'s str)>,
    /// They may define any name: `from module import *`.
    is_open: bool,
    /// Kernels that lost statements.
    kernels: Vec<Span>,
}

struct Mistake {
    place: Span,
    is_of_layout: bool,
}

impl Mistake {
    fn is_in(&self, span: Span) -> bool {
        (span.start..=span.end).contains(&self.place.start)
    }

    fn is_in_block(&self, block: &[Stmt]) -> bool {
        block.iter().any(|stmt| self.is_in(stmt.span))
    }
}

impl<'s> Broken<'s> {
    /// Removes the statements with errors from a script.
    pub fn take_out(module: &mut Module, diagnostics: &Diagnostics, source: &'s Source) -> Broken<'s> {
        let is_lost = |found: &&Diagnostic| found.severity == Severity::Error && !lacks_colon(found);
        let errors = diagnostics.iter().filter(is_lost);
        let mistake = |found: &Diagnostic| {
            let place = match found.location()?.span {
                // The error belongs to the header, though it is reported where the block should begin.
                span if found.code == "syntax/missing-block" => {
                    let before = source.text()[..span.start as usize].trim_end();
                    Span::point((before.len() as u32).saturating_sub(1))
                }
                span => span,
            };
            Some(Mistake { place, is_of_layout: OF_LAYOUT.contains(&found.code) })
        };
        let mistakes: Vec<Mistake> = errors.filter_map(mistake).collect();
        let (names, assigned, kernels) = (HashSet::new(), HashSet::new(), Vec::new());
        let mut broken = Broken { source, mistakes, names, assigned, is_open: false, kernels };
        // A line that the parser left out is no statement.
        let lines: Vec<u32> =
            broken.mistakes.iter().map(|mistake| source.line(mistake.place.start)).collect();
        for line in lines {
            let start = source.offset(line, 1);
            broken.lose(Span::new(start, start + source.line_text(line).len() as u32));
        }
        let whole = std::mem::take(&mut module.body);
        module.body = whole.into_iter().filter_map(|stmt| broken.sound_part(stmt)).collect();
        broken
    }

    /// Whether a kernel's diagnostic may be due to removed statements: they may define a name that is
    /// missing, or of the wrong type.
    pub fn may_explain(&self, diagnostic: &Diagnostic) -> bool {
        let Some(at) = diagnostic.location() else { return false };
        match diagnostic.code {
            "kernel/unknown-name" | "kernel/unknown-type" | "kernel/unset" => {
                let name = identifiers(at.source.slice(at.span)).next();
                self.is_open || name.is_some_and(|name| self.names.contains(name))
            }
            _ => {
                let line = at.source.line_text(at.source.line(at.span.start));
                let is_assigned = |name: &str| {
                    self.assigned.iter().any(|(lost, target)| *target == name && self.reaches(*lost, at.span))
                };
                self.is_of_a_part(diagnostic) && identifiers(line).any(is_assigned)
            }
        }
    }

    /// Whether a statement removed at `lost` may affect a place: it is not in another kernel.
    fn reaches(&self, lost: u32, place: Span) -> bool {
        let mut of_kernels = self.kernels.iter().filter(|kernel| (kernel.start..=kernel.end).contains(&lost));
        of_kernels.next().is_none_or(|kernel| (kernel.start..=kernel.end).contains(&place.start))
    }

    /// Whether a diagnostic is about a kernel with removed statements, which is incomplete.
    pub fn is_of_a_part(&self, diagnostic: &Diagnostic) -> bool {
        let Some(at) = diagnostic.location().filter(|at| at.source == *self.source) else { return false };
        self.kernels.iter().any(|kernel| (kernel.start..=kernel.end).contains(&at.span.start))
    }

    fn lose(&mut self, span: Span) {
        let text = self.source.slice(span);
        self.names.extend(identifiers(text));
        self.is_open |= text.contains("import") && text.contains('*');
        for target in text.lines().filter_map(target_of) {
            self.assigned.extend(identifiers(target).map(|name| (span.start, name)));
        }
    }

    fn lie_in(&self, span: Span) -> impl Iterator<Item = &Mistake> {
        self.mistakes.iter().filter(move |mistake| mistake.is_in(span))
    }

    /// A top-level statement, or its intact part.
    fn sound_part(&mut self, stmt: Stmt) -> Option<Stmt> {
        if self.lie_in(stmt.span).next().is_none() && !matches!(stmt.kind, StmtKind::Error) {
            return Some(stmt);
        }
        if let StmtKind::Function(def) = &stmt.kind
            && def.decorators.iter().any(is_kernel)
            && self.lie_in(stmt.span).all(|mistake| !mistake.is_of_layout && mistake.is_in_block(&def.body))
        {
            let mut def = FunctionDef::clone(def);
            def.body = self.sound_block(def.body);
            self.kernels.push(stmt.span);
            return Some(Stmt { kind: StmtKind::Function(Arc::new(def)), ..stmt });
        }
        self.lose(stmt.span);
        None
    }

    fn sound_block(&mut self, block: Vec<Stmt>) -> Vec<Stmt> {
        block.into_iter().map(|stmt| self.sound_stmt(stmt)).collect()
    }

    /// A statement of a kernel without its errors; an error node if they are in the statement itself.
    fn sound_stmt(&mut self, stmt: Stmt) -> Stmt {
        let Stmt { span, kind } = stmt;
        if self.lie_in(span).next().is_none() {
            return Stmt { span, kind };
        }
        let are_within = |blocks: &[&[Stmt]]| {
            self.lie_in(span).all(|mistake| blocks.iter().any(|block| mistake.is_in_block(block)))
        };
        let kind = match kind {
            StmtKind::If { branches, orelse }
                if are_within(
                    &branches.iter().map(|branch| &branch.body[..]).chain([&orelse[..]]).collect::<Vec<_>>(),
                ) =>
            {
                let branch = |branch: Branch| Branch { body: self.sound_block(branch.body), ..branch };
                let branches = branches.into_iter().map(branch).collect();
                StmtKind::If { branches, orelse: self.sound_block(orelse) }
            }
            StmtKind::For { target, iter, body, orelse, is_async } if are_within(&[&body, &orelse]) => {
                let (body, orelse) = (self.sound_block(body), self.sound_block(orelse));
                StmtKind::For { target, iter, body, orelse, is_async }
            }
            _ => {
                self.lose(span);
                StmtKind::Error
            }
        };
        Stmt { span, kind }
    }
}

/// Whether a header lacks only its colon: its meaning is then known.
fn lacks_colon(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == "syntax/missing-colon"
        && diagnostic.location().is_some_and(|at| {
            let (line, column) = at.source.line_column(at.span.start);
            let mut rest = at.source.line_text(line).chars().skip(column as usize - 1);
            rest.find(|c| !c.is_whitespace()).is_none_or(|c| c == '#')
        })
}

/// The name or names that a line assigns to. `a[i] = ..` and `v.x = ..` do not change a type.
fn target_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let is_test = ["if ", "elif ", "while ", "assert ", "return "].iter().any(|word| line.starts_with(word));
    let (target, _) = line.split_once('=').filter(|_| !is_test)?;
    Some(target).filter(|target| !target.contains(['[', '.', '(']))
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c != '_' && !unicode_ident::is_xid_continue(c));
    words.filter(|word| word.starts_with(|c: char| c == '_' || unicode_ident::is_xid_start(c)))
}
