//! Alias analysis of lists.
//!
//! A name refers to a list, or to a part of one, as in Python. But a part is stored inside its list, and a list
//! that is selected or passed at run time is copied. Wherever a kernel could see the difference, this module
//! reports an error: where a name is read whose part was replaced, and where a copy is written that another
//! name should see.

mod inference;

use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use crate::ir::{Place, Root, Step};

/// A list that is a copy, where other names refer to the original.
#[derive(Clone)]
pub(crate) struct Copied {
    at: Span,
    kind: CopyKind,
}

#[derive(Clone)]
enum CopyKind {
    OfOthers(Rc<[Place]>),
    /// After a join, where one path bound the name to the list that `what` describes. Another path may have
    /// bound it to a list that `is_read_only`.
    MayAlias {
        name: Name,
        what: Name,
        of: Rc<[Place]>,
        is_read_only: bool,
    },
    /// A captured list. A kernel does not change lists of the script.
    Captured,
    /// The launch passes it to the kernel by value.
    Given,
    /// Its rows are copies of each other: `[[0] * 3] * 2`.
    OfOneRow,
}

/// A list that was stored into another list or a struct, as a copy.
#[derive(Clone, PartialEq)]
pub(crate) struct Stored {
    list: Place,
    into: Place,
    at: Span,
}

impl Copied {
    /// A copy that may alias `of`. `what` describes the original, and the name got it at `at`.
    pub fn may_alias([name, what]: [Name; 2], of: Vec<Place>, is_read_only: bool, at: Span) -> Copied {
        Copied { at, kind: CopyKind::MayAlias { name, what, of: of.into(), is_read_only } }
    }

    /// A description of the list that it may alias.
    fn alias_text(&self) -> Option<Name> {
        match &self.kind {
            CopyKind::MayAlias { what, .. } => Some(what.clone()),
            _ => None,
        }
    }

    /// Whether no name may write to it.
    pub fn is_read_only(&self) -> bool {
        match self.kind {
            CopyKind::Captured | CopyKind::Given | CopyKind::OfOneRow => true,
            CopyKind::MayAlias { is_read_only, .. } => is_read_only,
            CopyKind::OfOthers(_) => false,
        }
    }

    /// The lists of which it is a copy.
    fn of(&self) -> &[Place] {
        match &self.kind {
            CopyKind::OfOthers(of) | CopyKind::MayAlias { of, .. } => of,
            CopyKind::Captured | CopyKind::Given | CopyKind::OfOneRow => &[],
        }
    }
}

impl Stored {
    /// Whether either of the two lists of this store may overlap `list`.
    pub fn overlaps(&self, list: &Place) -> bool {
        may_overlap(&self.list, list) || may_overlap(&self.into, list)
    }
}

/// Whether two places may have memory in common.
pub(crate) fn may_overlap(a: &Place, b: &Place) -> bool {
    let same_root = match (&a.root, &b.root) {
        (Root::Element(a, _), Root::Element(b, _)) => a == b,
        (a, b) => a == b,
    };
    let may_be_same = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Part(a), Step::Part(b)) => a == b,
        _ => true,
    };
    same_root && a.path.iter().zip(&*b.path).all(may_be_same)
}
