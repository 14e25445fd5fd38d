//! The compiler of host code: syntax tree in, register bytecode out.
//!
//! [`compile`] resolves every name to a register, a captured variable or a global, and writes instructions.
//! [`compile_entry`] does the same for an entry at the prompt, whose last expression is its result.
//! Both refuse what the syntax allows and the language does not, such as `return` outside a function.
//! A [`Program`] is plain data that threads share. The virtual machine in `kps` runs it.
//!
//! | Type | Use |
//! |---|---|
//! | [`Program`] | a compiled module |
//! | [`Code`] | the instructions of one function, class body or module |
//! | [`op`] | the instructions, each with its meaning |
//!
//! ```
//! use kps_syntax::{Source, parse};
//!
//! let (module, mistakes) = parse(&Source::new("double.kps", "def double(x):\n    return x + x\n"));
//! assert!(mistakes.is_empty());
//! let program = kps_bytecode::compile(&module)?;
//! assert_eq!(program.globals.len(), 1);
//! # Ok::<(), kps_syntax::Diagnostics>(())
//! ```
//!
//! Nothing here runs code.

mod compile;
mod emit;
mod errors;
pub mod op;
mod program;
mod scope;

pub use compile::{compile, compile_entry};
pub use errors::ERROR_CODES;
pub use program::{
    Capture, Code, CodeKind, Constant, HandlerKind, HandlerRange, HandlingRange, Params, Program, ProgramData,
};
pub use scope::CLASS_CELL;
