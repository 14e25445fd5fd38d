//! Functions that only the library calls: the instructions of cooperative matrices. Their names have a dot, so that no
//! script can call them.

use super::row::{Effect, FUNCTION, Gives, Known, Row, Stages, any};
use super::typing::{CoopInstruction, Typing, ValueRule};

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
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Load)),
        ..INSTRUCTION
    },
    // The same column by column.
    Row {
        names: &["coop.load_columns"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::LoadColumns)),
        ..INSTRUCTION
    },
    // Stores a matrix that is known to be inside the array.
    Row {
        names: &["coop.store"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Store)),
        ..INSTRUCTION
    },
    // The same column by column.
    Row {
        names: &["coop.store_columns"],
        params: &[any("m"), any("array"), any("start"), any("stride")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::StoreColumns)),
        ..INSTRUCTION
    },
    // Another matrix of the same type, of zeros.
    Row {
        names: &["coop.like"],
        params: &[any("m")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Like)),
        ..INSTRUCTION
    },
    // All elements of another matrix.
    Row {
        names: &["coop.take"],
        params: &[any("m"), any("other")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Take)),
        ..INSTRUCTION
    },
    // How many components this invocation holds.
    Row {
        names: &["coop.n_components"],
        params: &[any("m")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Length)),
        ..INSTRUCTION
    },
    // One of them.
    Row {
        names: &["coop.component"],
        params: &[any("m"), any("i")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Component)),
        ..INSTRUCTION
    },
    // Sets one of them.
    Row {
        names: &["coop.put"],
        params: &[any("m"), any("i"), any("value")],
        typing: Typing::Value(ValueRule::Coop(CoopInstruction::Put)),
        ..INSTRUCTION
    },
];
