//! The actions of the grammar: pieces of a rule go in, nodes of the tree come out.
//!
//! One file per family of rules. Errors that the grammar is too coarse to find are reported here, and a node
//! comes out nevertheless. No tree is deeper than [`MAX_DEPTH`]: a deeper one is replaced by one
//! [`ExprKind::Error`].

mod arguments;
mod escapes;
mod expressions;
mod literals;
mod operations;
mod patterns;
mod statements;
mod targets;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use unicode_normalization::UnicodeNormalization;

use crate::Diagnostic;
use crate::ast::{Expr, ExprKind, FStringPart, Ident, MAX_DEPTH, Name, Stmt};
use crate::errors;
use crate::source::{Location, Source, Span};

pub(crate) use arguments::{ParamItem, ParamKind};
pub(crate) use expressions::BraceItem;
pub(crate) use literals::{FieldTail, StringPiece};
pub(crate) use operations::{Piece, Pieces};
pub(crate) use statements::Handlers;

pub(crate) struct Builder<'a> {
    source: &'a Source,
    text: &'a str,
    names: FxHashMap<&'a str, Name>,
    pub diagnostics: Vec<Diagnostic>,
    /// The tree was too deep somewhere, which is reported once.
    reported_depth: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct Mark {
    n_diagnostics: usize,
    reported_depth: bool,
}

/// The statements of a block, and the end of the last one.
pub(crate) struct Block {
    pub body: Vec<Stmt>,
    pub end: u32,
}

impl Block {
    pub fn indented(body: Vec<Stmt>) -> Block {
        let end = body.last().map_or(0, |stmt| stmt.span.end);
        Block { body, end }
    }

    pub fn inline(body: Vec<Stmt>, end: u32) -> Block {
        Block { body, end }
    }
}

impl<'a> Builder<'a> {
    pub fn new(source: &'a Source) -> Builder<'a> {
        Builder {
            source,
            text: source.text(),
            names: FxHashMap::default(),
            diagnostics: Vec::new(),
            reported_depth: false,
        }
    }

    /// The number of diagnostics so far.
    pub fn mark(&self) -> Mark {
        Mark { n_diagnostics: self.diagnostics.len(), reported_depth: self.reported_depth }
    }

    /// Drops the diagnostics since `mark`.
    pub fn reset(&mut self, mark: Mark) {
        self.diagnostics.truncate(mark.n_diagnostics);
        self.reported_depth = mark.reported_depth;
    }

    pub fn ident(&mut self, span: Span) -> Ident {
        Ident { name: self.intern(span), span }
    }

    /// The name as Python has it, in the form NFKC.
    fn intern(&mut self, span: Span) -> Name {
        let text = &self.text[span.range()];
        let normalized = || match text.is_ascii() {
            true => Arc::from(text),
            false => Arc::from(text.nfkc().collect::<String>()),
        };
        Arc::clone(self.names.entry(text).or_insert_with(normalized))
    }

    /// A node above its children.
    fn expr(&mut self, span: Span, kind: ExprKind) -> Expr {
        let mut below = 0;
        kind.each_child(&mut |child| below = child.depth.max(below));
        self.expr_above(span, kind, below)
    }

    /// A node above trees with the known depth `below`: a growing chain is not traversed again.
    fn expr_above(&mut self, span: Span, kind: ExprKind, below: u32) -> Expr {
        if below >= MAX_DEPTH {
            self.report_depth(span);
            return Expr { span, kind: ExprKind::Error, depth: 0 };
        }
        Expr { span, kind, depth: below + 1 }
    }

    fn report_depth(&mut self, span: Span) {
        if !self.reported_depth {
            self.reported_depth = true;
            let at = self.at(span);
            self.report(errors::too_deep(at));
        }
    }

    /// A node without nodes below.
    pub fn leaf(&mut self, start: u32, kind: ExprKind, end: u32) -> Expr {
        Expr { span: Span::new(start, end), kind, depth: 0 }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn at(&self, span: Span) -> Location {
        self.source.at(span)
    }

    /// A parenthesised expression: its span begins at the parenthesis.
    fn in_parens(&self, expr: &Expr) -> bool {
        self.text.as_bytes().get(expr.span.start as usize) == Some(&b'(')
    }
}

/// Depth of the deepest field of an f-string, format specs included.
fn deepest_part(parts: &[FStringPart]) -> u32 {
    let depth = |part: &FStringPart| match part {
        FStringPart::Literal(_) => 0,
        FStringPart::Value(value) => {
            let spec = value.spec.as_deref().map_or(0, |spec| deepest_part(spec) + 1);
            value.expr.depth.max(spec)
        }
    };
    parts.iter().map(depth).max().unwrap_or(0)
}
