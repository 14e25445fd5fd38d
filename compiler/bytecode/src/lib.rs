//! AST in, register bytecode out: names resolved to slots, nothing run.

pub mod op;
mod program;

pub use program::{
    Capture, Code, CodeKind, Constant, HandlerRange, HandlingRange, Params, Program, ProgramData,
};
