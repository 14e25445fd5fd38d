//! What loops iterate over and `in` searches: `range`, `enumerate`, `zip`, `reversed`, lists, tuples, vectors,
//! rows of matrices and array parameters.
//!
//! A loop over anything but a plain range counts rounds from zero and computes the item of each.

mod inference;

use std::rc::Rc;

use kps_syntax::Span;

use crate::errors::SequenceKind;
use crate::infer::expressions::operand::{Operand, Static};

/// An operand and the place where it is written.
pub(crate) type Spanned = (Operand, Span);

pub(crate) enum Sequence {
    /// Start, stop, step.
    Range([Spanned; 3], Span),
    /// With the first number.
    Enumerate(Spanned, Spanned),
    Zip(Vec<Spanned>),
    Reversed(Spanned),
    /// The code of a loop over it is repeated, round by round.
    Unroll(Spanned),
}

impl Sequence {
    pub fn range(&self) -> Option<&[Spanned; 3]> {
        match self {
            Sequence::Range(bounds, _) => Some(bounds),
            _ => None,
        }
    }

    /// The `start`, `stop` or `step` of a range.
    pub fn bound(&self, name: &str) -> Option<&Operand> {
        let at = ["start", "stop", "step"].iter().position(|known| *known == name)?;
        Some(&self.range()?[at].0)
    }

    pub fn kind(&self) -> SequenceKind {
        match self {
            Sequence::Range(..) => SequenceKind::Range,
            Sequence::Enumerate(..) => SequenceKind::Enumerate,
            Sequence::Zip(_) => SequenceKind::Zip,
            Sequence::Reversed(_) => SequenceKind::Reversed,
            Sequence::Unroll(_) => SequenceKind::Unroll,
        }
    }
}

impl Operand {
    /// A `range` of the host.
    pub fn known_range(bounds: [i128; 3], span: Span) -> Operand {
        let bounds = bounds.map(|bound| (Operand::int(bound), span));
        Operand::Static(Static::Sequence(Rc::new(Sequence::Range(bounds, span))))
    }
}
