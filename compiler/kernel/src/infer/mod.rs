//! Inference: a checked kernel and a signature in, a typed kernel out (`ir`).
//!
//! Every expression and variable gets its type here, names their meaning, and literals and implicit conversions are
//! made explicit. What the typed kernel says is what the script means: later phases change how it is computed, never
//! its types. Inference walks a function in source order, and again when a type that later statements determine is
//! another one than was assumed (`assumptions.rs`). Every mistake is reported. Its result is `Operand::Error`, which
//! causes no further reports.
//!
//! It never asks what a device can do, and adds nothing that the script does not say.

mod access_paths;
mod accessors;
mod argument_passing;
mod arith;
mod assign;
mod assigning_tests;
mod assignments;
mod assumptions;
mod atomics;
mod bits;
mod budget;
mod builtin_calls;
mod calls;
mod cast;
mod closures;
mod compare;
mod conditional_expr;
mod conditional_strings;
mod coop;
mod coop_math;
mod dunders;
mod env_ref;
mod expr;
mod fold;
mod format_spec;
mod gather_scatter;
mod helpers;
mod index;
mod interface;
mod invocation_ids;
mod joins;
mod kernel;
mod library_calls;
mod library_functions;
mod library_math;
mod lists;
mod loop_fixpoint;
mod loop_guesses;
mod loops;
mod match_stmt;
mod math;
mod math_of_sequences;
mod matrix;
mod matrix_parts;
mod operand;
mod outputs;
mod params;
mod ranges;
mod record;
mod reference_phis;
mod remarks;
mod reports;
mod returns;
mod selected_arrays;
mod sequences;
mod shape;
mod shared;
mod stages;
mod state;
mod stmts;
mod store_conversion;
mod structs;
mod subgroup;
mod targets;
mod textures;
mod tiles;
mod tuples;
mod typing_rules;
mod unknown_values;
mod vars;
mod weak_types;

use self::env_ref::EnvRef;
pub(crate) use self::kernel::{Inferred, infer, infer_partial};
pub(crate) use self::library_functions::LibraryFunctions;
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
