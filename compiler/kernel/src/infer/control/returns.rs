//! Results of functions. Each `return` is recorded, and all are converted to one type when the function is
//! complete.

mod inference;

use kps_syntax::Span;

use crate::infer::expressions::operand::Operand;
use crate::infer::expressions::weak_types::WeakValues;
use crate::ir::NodeId;
use crate::types::{Scalar, Type};

/// A `return` of the function being inferred. Its type is resolved when all are known.
#[derive(Clone)]
pub(crate) struct ReturnSite {
    operand: Operand,
    span: Span,
    /// A placeholder for a literal until then.
    node: Option<NodeId>,
    /// The possible values, if it is weak.
    weak: Option<WeakValues>,
}

/// The results of the function being inferred.
#[derive(Clone, Default)]
pub(crate) struct Results {
    /// The type after `->`.
    declared: Option<Type>,
    sites: Vec<ReturnSite>,
    /// The type of a number made of literals that a caller needs in a wider type than its default.
    wide: Option<Scalar>,
    /// The possible results, if all are weak.
    weak: Option<WeakValues>,
}

impl Results {
    pub fn new(declared: Option<Type>, wide: Option<Scalar>) -> Results {
        Results { declared, wide, ..Results::default() }
    }

    /// Whether no `return` was reached so far.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// The possible results of a complete function, if all are weak.
    pub fn into_weak(self) -> Option<WeakValues> {
        self.weak
    }
}
