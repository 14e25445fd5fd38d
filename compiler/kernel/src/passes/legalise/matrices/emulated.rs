//! Emulated operations: functions of `library/coop.kps` on the rows, which every invocation has.

use crate::infer::{LibraryArg, LibraryFunctions};
use crate::ir::build::Builder;
use crate::ir::{BinaryOp, CoopArray, CoopKind, CoopOp, Place};
use crate::types::{Scalar, Type};

pub(super) fn expand(op: CoopOp, builder: &mut Builder, library: &mut LibraryFunctions) {
    let CoopOp { kind, matrix, .. } = op;
    let number = LibraryArg::Type(number_of(&matrix.place.ty));
    let (name, args) = match kind {
        CoopKind::Part => return,
        CoopKind::Zero => return zero(&matrix.place, builder),
        CoopKind::Fill(value) => ("coop_fill", vec![LibraryArg::Node(value)]),
        CoopKind::MultiplyAdd(a, b) => ("coop_multiply_add", vec![a.into(), b.into(), number]),
        CoopKind::Load(from) => (from.lines.choose("coop_load", "coop_load_columns"), elements(from)),
        CoopKind::Store(to) => (to.lines.choose("coop_store", "coop_store_columns"), elements(to)),
        CoopKind::Sum(BinaryOp::Add, a, b) => ("coop_add", vec![a.into(), b.into()]),
        CoopKind::Sum(_, a, b) => ("coop_subtract", vec![a.into(), b.into()]),
        CoopKind::Scaled(BinaryOp::Mul, of, factor) => {
            ("coop_scale", vec![of.into(), LibraryArg::Node(factor)])
        }
        CoopKind::Scaled(_, of, factor) => ("coop_divide", vec![of.into(), LibraryArg::Node(factor)]),
        CoopKind::Negated(of) => ("coop_negate", vec![of.into()]),
        CoopKind::Converted(of) => ("coop_convert", vec![of.into(), number]),
    };
    library.call(builder, name, [matrix.into()].into_iter().chain(args));
}

fn zero(matrix: &Place, builder: &mut Builder) {
    let zero = builder.zero(&matrix.ty);
    builder.stmt(matrix.store(zero, builder.span));
}

fn elements(CoopArray { array, width, start, stride, .. }: CoopArray) -> Vec<LibraryArg> {
    vec![LibraryArg::Array(array), LibraryArg::Node(start), LibraryArg::Node(stride), LibraryArg::Int(width)]
}

/// The type of the numbers in rows.
fn number_of(rows: &Type) -> Scalar {
    let number = rows.part(0).and_then(|row| row.part(0)).and_then(|number| number.scalar());
    number.expect("a matrix has rows of numbers")
}
