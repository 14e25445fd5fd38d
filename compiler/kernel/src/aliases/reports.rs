//! The mistakes that the analysis finds.

use kps_syntax::{Diagnostic, Location, Span};

use super::record::{Named, Var};
use super::state::{CopyKind, ListCopy, Stale};
use super::walk::Walk;
use crate::errors;
use crate::ir::{LocalId, Root};
use crate::types::{Kind, Scalar, Type};

/// What identifies a mistake, so that it is reported once.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Mistake {
    /// A name is read that must not be since the place in the source.
    Read(Var, Span),
    /// A copy is written.
    Copy(LocalId),
    /// A list is written that was stored there into another one.
    Stored(Span),
    /// A list is changed over which the loop there goes.
    Iterated(Span),
}

impl Stale {
    /// Where in the source the name became stale, or was given the first of the lists.
    pub fn by(&self) -> Span {
        match self {
            Stale::Replaced { by } | Stale::Outdated { by, .. } => *by,
            Stale::Lists { first, .. } => *first,
        }
    }
}

impl Walk<'_> {
    fn text(&self, span: Span) -> &str {
        self.function.source.slice(span)
    }

    fn location(&self, span: Span) -> Location {
        self.function.source.at(span)
    }

    pub fn stale_read(&self, named: &Named, stale: &Stale, read: Span) -> Diagnostic {
        let (name, at) = (&named.name, self.location(read));
        match stale {
            Stale::Replaced { by } => {
                let part = named.part.filter(|part| *part != named.span).map(|part| self.text(part));
                let named = (self.location(named.span), part);
                errors::part_replaced(at, name, named, (self.location(*by), self.text(*by)))
            }
            Stale::Outdated { copied, may_alias: Some(what), by } => {
                errors::perhaps_one_outdated(at, (self.location(*copied), what), name, self.location(*by))
            }
            Stale::Outdated { copied, may_alias: None, by } => {
                let copied = (self.location(*copied), self.text(*copied));
                errors::copy_outdated(at, name, copied, self.location(*by))
            }
            Stale::Lists { first, second } => {
                errors::conflicting_lists(at, name, self.location(*first), self.location(*second), false)
            }
        }
    }

    pub fn written_copy(&self, list: LocalId, copy: &ListCopy, at: Span, is_matrix: bool) -> Diagnostic {
        let (text, written, copied) = (self.text(copy.at), self.location(at), self.location(copy.at));
        let ty = &self.local(list).ty;
        match &copy.kind {
            CopyKind::Captured => {
                let mention = (copy.at.start != at.start).then_some(copied);
                let own = self.line_that_copies(list, at, copy.at);
                errors::captured_list_written(written, text, mention, ty, &own)
            }
            CopyKind::Given => {
                let own = self.line_that_copies(list, at, copy.at);
                errors::given_list_written(written, copied, text, ty, &own)
            }
            CopyKind::Of(_) if is_matrix => errors::coop_copy_written(written, copied, text),
            CopyKind::Of(_) => errors::copy_written(written, copied, text),
            CopyKind::MayAlias { name, what, .. } => errors::perhaps_one_written(written, copied, name, what),
            CopyKind::OfOneRow => errors::one_row_written(written, copied, text, rows_of(ty)),
        }
    }

    pub fn written_stored(&self, stored: Span, by: Span) -> Diagnostic {
        errors::stored_list_written(self.location(by), self.location(stored), self.text(stored))
    }

    pub fn walked_written(&self, walked: Span, by: Span) -> Diagnostic {
        errors::walked_list_written(self.location(by), self.location(walked), self.text(walked))
    }

    pub fn walked_replaced(&self, walked: Span, by: Span) -> Diagnostic {
        errors::walked_list_replaced(self.location(by), self.location(walked), self.text(walked))
    }

    /// A line of source that copies the list. It uses the name by which the list is written, if it has one.
    fn line_that_copies(&self, list: LocalId, at: Span, mention: Span) -> String {
        let base = errors::root_of(self.text(at));
        let is_base = |named: &&Named| *named.name == *base && named.place.root == Root::Local(list);
        match self.state.readable().map(|(_, named)| &**named).find(is_base) {
            Some(named) => {
                let part = named.part.filter(|part| *part != named.span);
                let (name, text) = part.map_or(("own", base), |part| (base, self.text(part)));
                errors::copied_list(name, text, &named.place.ty)
            }
            None => errors::copied_list("own", self.text(mention), &self.local(list).ty),
        }
    }
}

/// The numbers of rows and columns of a list of lists, and a zero of its element type.
fn rows_of(ty: &Type) -> (u32, u32, &'static str) {
    let Type::Array(rows) = ty else { return (1, 1, "0") };
    let (n_columns, element) = match &rows.element {
        Type::Array(row) => (row.len, &row.element),
        element => (1, element),
    };
    let zero = match element.scalar().map(Scalar::kind) {
        Some(Kind::Float) => "0.0",
        Some(Kind::Bool) => "False",
        _ => "0",
    };
    (rows.len, n_columns, zero)
}
