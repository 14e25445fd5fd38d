//! Compiled code: plain data, shared between threads and independent of a machine.

use std::sync::Arc;

use kps_syntax::ast::{ClassDef, FunctionDef, Name};
use kps_syntax::{Source, Span};
use num_bigint::BigInt;

use crate::op::Instruction;

/// A compiled module. Cheap to clone; it may go to another thread, and run in many hosts.
#[derive(Clone, Debug)]
pub struct Program(Arc<ProgramData>);

#[derive(Debug)]
pub struct ProgramData {
    pub source: Source,
    /// The module's own code.
    pub main: Arc<Code>,
    /// Every global name that the program's code mentions; code names them by index.
    pub globals: Vec<Name>,
}

impl Program {
    pub(crate) fn new(data: ProgramData) -> Program {
        Program(Arc::new(data))
    }
}

impl std::ops::Deref for Program {
    type Target = ProgramData;

    fn deref(&self) -> &ProgramData {
        &self.0
    }
}

const _: () = {
    const fn shareable<T: Send + Sync>() {}
    shareable::<Program>();
};

/// The code of one module, function, lambda, class body or generator expression.
#[derive(Debug)]
pub struct Code {
    pub name: Name,
    /// Dotted, with `<locals>` as Python has it.
    pub qualname: Name,
    pub kind: CodeKind,
    pub params: Params,
    /// Registers that a frame needs: locals first, temporaries above.
    pub n_registers: u32,
    pub instructions: Vec<Instruction>,
    /// The place in the source of each instruction.
    pub spans: Vec<Span>,
    pub constants: Vec<Constant>,
    /// The names at the attribute sites; each site has an inline cache in the machine.
    pub sites: Vec<Name>,
    /// Names of the first registers. A local that inner functions capture lives in a cell.
    pub locals: Vec<Name>,
    /// Names of the captured cells, in the order of `captures`.
    pub free: Vec<Name>,
    /// The sources of the cells in the frame that creates the function.
    pub captures: Vec<Capture>,
    /// Innermost first.
    pub handlers: Vec<HandlerRange>,
    /// Code in which an exception is being handled; innermost first.
    pub handling: Vec<HandlingRange>,
    pub children: Vec<Arc<Code>>,
    /// The function as it was written: decorators that compile kernels read it.
    pub def: Option<Arc<FunctionDef>>,
    /// The class whose body this is.
    pub class: Option<Arc<ClassDef>>,
    /// The text of the docstring.
    pub doc: Option<Arc<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    Module,
    Function,
    Generator,
    ClassBody,
}

/// The parameters: their registers are 0, 1, 2.. in this order, `*args` and `**kwargs` last.
#[derive(Debug, Default, Clone, Copy)]
pub struct Params {
    pub n_positional_only: u16,
    /// Positional ones, the positional-only included.
    pub n_positional: u16,
    pub n_keyword_only: u16,
    pub has_var_positional: bool,
    pub has_var_keyword: bool,
}

impl Params {
    /// Those with a name that a caller may use or fill.
    pub fn n_named(self) -> usize {
        self.n_positional as usize + self.n_keyword_only as usize
    }

    pub fn n_registers(self) -> usize {
        self.n_named() + self.has_var_positional as usize + self.has_var_keyword as usize
    }

    /// A call with exactly `n` positional arguments needs no more than copying them.
    pub fn is_simple(self) -> bool {
        self.n_keyword_only == 0 && !self.has_var_positional && !self.has_var_keyword
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    BigInt(BigInt),
    Float(f64),
    /// A complex number without a real part.
    Imaginary(f64),
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
    Tuple(Vec<Constant>),
}

/// The source of a captured cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capture {
    /// The cell in this register of the frame that creates the function.
    Local(u16),
    /// This captured cell of the function that creates it.
    Free(u16),
}

/// An exception between `start` and `end` jumps to `target`: registers from `level` on are emptied, and the
/// exception is stored in `R[level]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlerRange {
    pub start: u32,
    pub end: u32,
    pub target: u32,
    pub level: u16,
    pub kind: HandlerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerKind {
    /// `except`: the exception may end here.
    Except,
    /// `finally` and `with`: code on every exit path.
    Cleanup,
}

/// Between `start` and `end` the exception in `register` is being handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandlingRange {
    pub start: u32,
    pub end: u32,
    pub register: u16,
}
