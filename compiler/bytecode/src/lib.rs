//! AST in, register bytecode out: names resolved to slots, nothing run.

mod compile;
mod errors;
pub mod op;
mod program;

pub use compile::{compile, compile_entry};
pub use program::{
    Capture, Code, CodeKind, Constant, HandlerRange, HandlingRange, Params, Program, ProgramData,
};
