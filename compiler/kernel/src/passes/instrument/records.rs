//! Records: messages split into the numbers that a kernel writes.
//!
//! In go messages with values of any types. Each becomes a record whose values are the numbers of its template, in
//! order. No message is left.

use crate::ir::build::{Builder, rewrite_stmts};
use crate::ir::{Kernel, Message, MessageKind, NodeId, NodeKind, Record, RecordKind, Stmt};
use crate::types::{Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel) {
    for function in &mut kernel.functions {
        rewrite_stmts(function, &mut |builder, stmt| match stmt {
            Stmt::Message(message) => {
                let record = record_of(builder, *message);
                builder.block.push(Stmt::Record(Box::new(record)));
            }
            stmt => builder.block.push(stmt),
        });
    }
}

fn record_of(builder: &mut Builder, message: Message) -> Record {
    let Message { kind, mut template, values, span } = message;
    builder.span = span;
    let mut numbers = Vec::new();
    for value in values {
        push_numbers(builder, value, Matrices::ByRows, &mut numbers);
    }
    let kind = match kind {
        MessageKind::Print { end } => {
            template += &end;
            RecordKind::Print
        }
        MessageKind::Assert => RecordKind::Assert,
        MessageKind::AssertOnce => RecordKind::AssertOnce,
    };
    Record { kind, template, values: numbers, span }
}

/// The order of the numbers of a matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Matrices {
    ByRows,
    ByColumns,
}

/// Appends the numbers of a value.
pub(super) fn push_numbers(
    builder: &mut Builder,
    value: NodeId,
    matrices: Matrices,
    numbers: &mut Vec<NodeId>,
) {
    let ty = builder.ty(value);
    if let Type::Scalar(scalar) = ty {
        return numbers.push(carried(builder, value, scalar));
    }
    let parts = parts_of(builder, value, &ty);
    if matrices == Matrices::ByRows
        && let Type::Matrix { rows, scalar, .. } = ty
    {
        for row in 0..u32::from(rows) {
            for column in &parts {
                let number = part_of(builder, *column, row, scalar.into());
                numbers.push(carried(builder, number, scalar));
            }
        }
        return;
    }
    for part in parts {
        push_numbers(builder, part, matrices, numbers);
    }
}

fn parts_of(builder: &mut Builder, whole: NodeId, ty: &Type) -> Vec<NodeId> {
    let parts = (0..ty.n_parts().unwrap_or(0)).filter_map(|at| Some((at, ty.part(at)?)));
    parts.map(|(at, part)| part_of(builder, whole, at, part)).collect()
}

fn part_of(builder: &mut Builder, whole: NodeId, at: u32, ty: Type) -> NodeId {
    match &builder.function.node(whole).kind {
        NodeKind::Construct(parts) => parts[at as usize],
        NodeKind::Splat(scalar) => *scalar,
        _ => builder.node(NodeKind::Extract(whole, at), ty),
    }
}

/// Narrow numbers are stored as 32-bit ones.
fn carried(builder: &mut Builder, number: NodeId, scalar: Scalar) -> NodeId {
    let carried = match scalar {
        Scalar::I8 | Scalar::I16 => Scalar::I32,
        Scalar::U8 | Scalar::U16 => Scalar::U32,
        Scalar::F16 | Scalar::Bf16 => Scalar::F32,
        _ => return number,
    };
    match builder.function.constant(number) {
        Some(constant) => builder.constant(constant.cast(carried)),
        None => builder.node(NodeKind::Convert(number), carried),
    }
}
