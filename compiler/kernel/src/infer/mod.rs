//! Inference: a checked kernel and a signature in, a typed kernel out (`ir`).
//!
//! Every expression and variable gets its type here, names their meaning, and literals and implicit conversions are
//! made explicit. What the typed kernel says is what the script means: later phases change how it is computed, never
//! its types. Inference walks a function in source order, and again when a type that later statements determine is
//! another one than was assumed (`assumptions.rs`). Every mistake is reported. Its result is `Operand::Error`, which
//! causes no further reports.
//!
//! It never asks what a device can do, and adds nothing that the script does not say.

mod assumptions;
mod budget;
mod builtin_calls;
mod calls;
mod control;
mod coop;
mod env_ref;
mod expressions;
mod interface;
mod kernel;
mod places;
mod remarks;
mod reports;
mod state;
mod structs;

pub(crate) use self::calls::library_functions::{LibraryArg, LibraryFunctions};
use self::env_ref::EnvRef;
pub(crate) use self::kernel::{Inferred, infer, infer_partial};
pub(crate) use self::remarks::{Collect, FunctionTypes};
use self::state::{Ctx, FunctionState};

/// Expressions and blocks of one function may nest this deep. SPIR-V allows control flow to nest 1023 deep.
/// This limit keeps every pass within a small stack.
const MAX_NESTING: u32 = 200;
/// Calls may nest this deep, as in Python.
const MAX_CALLS: usize = 1000;

/// The elements of all local arrays of one literal. An instruction has 65535 words, of which three are its
/// header.
const MAX_ARRAY_LEN: u32 = 0xffff - 3;
