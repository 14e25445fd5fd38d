//! Constant tables: lists of the script that a kernel captures, made before the rest of a function runs. A list
//! of numbers in the function itself is a table as well, if the function only reads its numbers.
//!
//! The numbers of a table are weak (`weak_types.rs`). Its default type is i32 or f32. If a number is too large for
//! i32, it is the first of u32, i64 and u64 that holds all.

mod inference;

use std::rc::Rc;

use kps_syntax::Span;

use crate::constant::Literal;
use crate::env::EnvValue;
use crate::infer::assumptions::WeakKey;
use crate::types::Scalar;

/// A table of weak numbers.
#[derive(Clone)]
pub(crate) struct Table {
    items: Rc<[EnvValue]>,
    /// All numbers, including those of inner lists.
    pub numbers: Rc<[Literal]>,
    pub key: WeakKey,
    /// Nothing can change it.
    is_constant: bool,
    /// Where it is captured, if it is a list of the script.
    captured_at: Option<Span>,
}

impl Table {
    fn depth(&self) -> usize {
        let first = |items: &Rc<[EnvValue]>| match items.first() {
            Some(EnvValue::List(items)) => Some(Rc::clone(items)),
            _ => None,
        };
        std::iter::successors(Some(Rc::clone(&self.items)), first).count()
    }
}

/// The default type of numbers of which some are too large for i32 or f32.
pub(crate) fn scalar_of_large(numbers: impl Iterator<Item = Literal> + Clone) -> Option<Scalar> {
    let holds = |scalar: &Scalar| numbers.clone().all(|number| number.fit(*scalar).is_some());
    let (own, larger) = match numbers.clone().any(|number| matches!(number, Literal::Float(_))) {
        true => (Scalar::F32, &[Scalar::F64][..]),
        false => (Scalar::I32, &[Scalar::U32, Scalar::I64, Scalar::U64][..]),
    };
    if holds(&own) { None } else { larger.iter().copied().find(|scalar| holds(scalar)) }
}
