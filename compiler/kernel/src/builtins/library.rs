//! Functions that only the library calls: the instructions of cooperative matrices. Their names have a dot, so that no
//! script can call them.

use super::row::{Effect, Gives, Known, Lowering, Row, Stages};
use super::row::{FUNCTION, any};
use crate::infer::CoopInstruction;

/// How the names of instructions begin.
const COOP: &str = "coop.";

/// The full name of an instruction that the library calls by its last part.
pub(crate) fn coop_instruction(name: &str) -> Option<&'static str> {
    ROWS.iter().map(Row::name).find(|full| full.strip_prefix(COOP) == Some(name))
}

const INSTRUCTION: Row = Row {
    known: Known::Library,
    result: Gives::Other("what the instruction gives"),
    effect: Effect::Group,
    stages: Stages::Compute,
    ..FUNCTION
};

pub(super) const ROWS: &[Row] = &[
    // Loads a matrix that is known to be inside the array, row by row.
    Row {
        names: &["coop.load"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Load, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // The same column by column.
    Row {
        names: &["coop.load_columns"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::LoadColumns, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // Stores a matrix that is known to be inside the array.
    Row {
        names: &["coop.store"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Store, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // The same column by column.
    Row {
        names: &["coop.store_columns"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::StoreColumns, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // Another matrix of the same type, of zeros.
    Row {
        names: &["coop.like"],
        params: &[any("m")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Like, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // All elements of another matrix.
    Row {
        names: &["coop.take"],
        params: &[any("m"), any("other")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Take, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // How many components this invocation holds.
    Row {
        names: &["coop.n_components"],
        params: &[any("m")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Length, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // One of them.
    Row {
        names: &["coop.component"],
        params: &[any("m"), any("i")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Component, call.args, call.span)
        }),
        ..INSTRUCTION
    },
    // Sets one of them.
    Row {
        names: &["coop.put"],
        params: &[any("m"), any("i"), any("value")],
        lowering: Lowering::Value(|ctx, call| {
            ctx.coop_instruction(CoopInstruction::Put, call.args, call.span)
        }),
        ..INSTRUCTION
    },
];
