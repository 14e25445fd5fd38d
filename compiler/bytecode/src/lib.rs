//! AST in, register bytecode out: names resolved to slots, nothing run.

mod compile;
mod emit;
mod errors;
pub mod op;
mod program;
mod scope;

pub use compile::{compile, compile_entry};
pub use program::{
    Capture, Code, CodeKind, Constant, HandlerKind, HandlerRange, HandlingRange, Params, Program, ProgramData,
};
pub use scope::CLASS_CELL;
