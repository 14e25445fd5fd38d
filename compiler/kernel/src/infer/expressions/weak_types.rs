//! Weakly typed numbers that are known only at run time.
//!
//! An expression made only of literals has a weak type. Such expressions are elements of constant lists,
//! conditional expressions between literals, variables that every path assigns a weak number, results of functions
//! that return only those, and arithmetic of weak numbers. Like a literal, a weak number adopts the type of the
//! other operand if all its possible values fit that type.
//!
//! It is computed in one type: its default type (i32, f32), or f64 if it is used as an f64 and f32 does not hold
//! its values exactly. Elsewhere it is converted. Which numbers need f64 is known when the function was walked
//! (`assumptions.rs`).

mod inference;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::constant::{Constant, Literal};
use crate::infer::assumptions::WeakKey;
use crate::infer::places::lists::scalar_of_large;
use crate::ir::{LocalId, NodeId};
use crate::types::Scalar;

/// An operand of a weak number: a literal, or another weak number.
#[derive(Clone)]
pub(crate) enum WeakSide {
    Literal(Literal),
    Node(NodeId),
    /// In a local to which paths stored it.
    Stored(LocalId, WeakPhi),
}

/// A variable that every path assigns a weak number.
#[derive(Clone)]
pub(crate) struct WeakPhi {
    pub key: WeakKey,
    pub values: WeakValues,
}

/// The weak numbers of a function that are not literals.
#[derive(Clone, Default)]
pub(crate) struct WeakNumbers {
    nodes: FxHashMap<NodeId, Weak>,
    /// Arguments that the function needs in wider types: the place of each in `args`, and the type.
    demanded_args: Vec<(u32, Scalar)>,
}

impl WeakNumbers {
    pub fn into_demanded_args(self) -> Vec<(u32, Scalar)> {
        self.demanded_args
    }
}

#[derive(Clone)]
struct Weak {
    origin: Origin,
    values: WeakValues,
}

/// What has to change for a weak number to be computed in a wider type.
#[derive(Clone, Copy)]
enum Origin {
    /// The type of this.
    Key(WeakKey),
    /// The type of this argument of the function.
    Arg(u32),
    /// The types of the operands, as far as they are no literals.
    Operands([Option<NodeId>; 2]),
}

/// The possible values of a weak number.
#[derive(Clone)]
pub(crate) struct WeakValues {
    /// All values that it may have.
    pub numbers: Rc<[Literal]>,
    /// The type in which it is computed represents all of them exactly.
    is_exact: bool,
}

impl WeakValues {
    pub fn of_numbers(numbers: Rc<[Literal]>) -> WeakValues {
        WeakValues { numbers, is_exact: true }
    }

    /// Numbers in a type.
    pub fn in_type(numbers: Rc<[Literal]>, own: Scalar) -> WeakValues {
        WeakValues { is_exact: are_exact(&numbers, own), numbers }
    }

    /// The values of a number of type `own` that is one of these.
    pub fn any_of(sides: &[WeakValues], own: Scalar) -> WeakValues {
        let numbers = distinct(sides.iter().flat_map(|side| side.numbers.iter()));
        let is_exact = sides.iter().all(|side| side.is_exact) && are_exact(&numbers, own);
        WeakValues { numbers, is_exact }
    }

    /// The values of an operation on these. `None` if one overflows `own`.
    fn computed(sides: &[WeakValues], numbers: &[Literal], own: Scalar) -> Option<WeakValues> {
        let fits_own = |number: &Literal| own.is_float() || number.fit(own).is_some();
        let is_exact = || sides.iter().all(|side| side.is_exact) && are_exact(numbers, own);
        let all_fit = numbers.iter().all(fits_own);
        all_fit.then(|| WeakValues { is_exact: is_exact(), numbers: distinct(numbers) })
    }

    /// Whether converting it to a type that it fits gives the same value as a literal of that type.
    fn converts(&self) -> bool {
        !self.has_floats() || self.is_exact
    }

    /// Whether all its values fit.
    pub fn fit(&self, scalar: Scalar) -> bool {
        self.numbers.iter().all(|number| number.fit(scalar).is_some())
    }

    fn has_floats(&self) -> bool {
        self.numbers.iter().any(|number| matches!(number, Literal::Float(_)))
    }
}

/// The default type of a number that has one of these values.
pub(in crate::infer) fn scalar_alone(values: &[WeakValues]) -> Scalar {
    let own = if values.iter().any(WeakValues::has_floats) { Scalar::F32 } else { Scalar::I32 };
    scalar_of_large(values.iter().flat_map(|values| values.numbers.iter().copied())).unwrap_or(own)
}

/// The numbers without duplicates.
fn distinct<'n>(numbers: impl IntoIterator<Item = &'n Literal>) -> Rc<[Literal]> {
    let mut distinct = Vec::from_iter(numbers.into_iter().copied());
    let mut seen = FxHashSet::with_capacity_and_hasher(distinct.len(), Default::default());
    distinct.retain(|number| seen.insert(*number));
    distinct.into()
}

/// Whether a type represents these exactly.
fn are_exact(numbers: &[Literal], scalar: Scalar) -> bool {
    let is_exact = |number: &Literal| match number.fit(scalar).map(Constant::as_float) {
        Some(Some(value)) => value == number.to_f64(),
        constant => constant.is_some(),
    };
    numbers.iter().all(is_exact)
}
