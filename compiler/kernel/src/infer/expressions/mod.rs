//! Expressions: operands, operators, literals, conversions.
//!
//! In: the expressions of the source. Out: an [`Operand`](operand::Operand) each. Literals have no type until something
//! needs one (`weak_types.rs`).

pub(super) mod arith;
pub(super) mod cast;
pub(super) mod compare;
pub(super) mod conditional_expr;
pub(super) mod conditional_strings;
pub(super) mod expr;
pub(super) mod fold;
pub(super) mod matrix;
pub(super) mod matrix_parts;
pub(super) mod operand;
pub(super) mod store_conversion;
pub(super) mod tuples;
pub(super) mod unknown_values;
pub(super) mod weak_types;
