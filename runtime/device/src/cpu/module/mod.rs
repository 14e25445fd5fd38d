//! A SPIR-V module, read and checked. The input is any sequence of words. The output is a [`Module`] with
//! these invariants:
//!
//! - Every instruction is inside the binary, and has the operands that its reader uses.
//! - Each id has one definition; types and constants refer only to earlier ones.
//! - Branches go to blocks of the same function. Each block ends with its only terminator, and no branch goes
//!   to the first.
//! - Calls go to functions of the module, and there is no recursion.
//!
//! `docs/src/reference/cpu-device.md` lists the supported instructions. Others are refused by name.
//!
//! Operand types inside functions, and dominance of definitions, are checked when a function is lowered. So
//! an unused function may be wrong.

mod bodies;
pub mod constants;
mod declare;
mod decorations;
pub mod flow;
mod functions;
mod reader;
pub mod types;

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::FxHashMap;

use self::constants::Constant;
use self::types::{TypeId, Types};
use crate::SourceLine;
use crate::findings::ArrayName;

pub use self::functions::{Block, Function};
pub use self::reader::read;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

/// A position from `OpLine`; the file is the id of an `OpString`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    pub file: Id,
    pub line: u32,
    pub column: u32,
    /// The inlined call that this line belongs to, counted from 1 in
    /// [`Kernel::calls`](super::lane::Kernel::calls). 0 is the entry point itself.
    pub call: u32,
}

/// One instruction: its operands are words `first .. first + n` of the module.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    pub op: Op,
    first: u32,
    n: u32,
    pub line: Option<Line>,
}

pub struct Module<'w> {
    words: &'w [u32],
    pub strings: Strings,
    /// The names of ids, if the module has them.
    pub names: FxHashMap<Id, String>,
    pub types: Types,
    pub constants: FxHashMap<Id, Constant>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub function_by_id: FxHashMap<Id, usize>,
    pub ext_inst_sets: FxHashMap<Id, ExtInstSet>,
    /// The function of the entry point.
    pub entry: usize,
    /// The functions that the entry point reaches, callees before callers.
    pub call_order: Vec<usize>,
    pub local_size: [u32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtInstSet {
    Glsl,
    /// [`crate::interface::checks`], which kps kernels use.
    Checks,
    /// Instructions without an effect, such as debug information.
    NonSemantic,
    Unknown,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    pub id: Id,
    pub class: StorageClass,
    pub pointee: TypeId,
    pub initializer: Option<Id>,
    pub set: Option<u32>,
    pub binding: Option<u32>,
    /// The SPIR-V number of the built-in.
    pub builtin: Option<u32>,
    pub line: Option<Line>,
}

impl Module<'_> {
    /// Whether it has the check instructions of a checked kps kernel.
    pub fn is_instrumented(&self) -> bool {
        self.ext_inst_sets.values().any(|set| *set == ExtInstSet::Checks)
    }

    pub fn operands(&self, inst: &Instruction) -> &[u32] {
        &self.words[inst.first as usize..(inst.first + inst.n) as usize]
    }

    /// The name of the image or texture of a binding.
    pub fn image_name(&self, (set, binding): (u32, u32)) -> ArrayName {
        let mut globals = self.globals.iter();
        let global = globals.find(|global| (global.set, global.binding) == (Some(set), Some(binding)));
        let name = global.and_then(|global| self.name(global.id));
        name.unwrap_or(ArrayName::Binding { set, binding })
    }

    /// The name of a variable or member.
    pub fn name(&self, id: Id) -> Option<ArrayName> {
        let name = self.names.get(&id).filter(|name| !name.is_empty())?;
        Some(ArrayName::Name(name.clone()))
    }

    /// The string with this id as a name, or else the name of the id.
    pub fn source_name(&self, id: Id) -> Option<ArrayName> {
        let given = self.strings.0.get(&id).map(|name| ArrayName::Name(name.clone()));
        given.or_else(|| self.name(id))
    }

    /// The line at which the entry point begins.
    pub fn first_line(&self) -> Option<SourceLine> {
        let mut insts = self.functions[self.entry].blocks.iter().flat_map(|block| &block.body);
        self.line(insts.find_map(|inst| inst.line))
    }

    pub fn line(&self, line: Option<Line>) -> Option<SourceLine> {
        self.strings.line(line)
    }
}

/// File names by their ids, and other strings of the module.
#[derive(Clone, Default)]
pub struct Strings(FxHashMap<Id, String>);

impl Strings {
    pub fn has(&self, id: Id) -> bool {
        self.0.contains_key(&id)
    }

    pub fn line(&self, line: Option<Line>) -> Option<SourceLine> {
        let line = line?;
        let file = self.0.get(&line.file).cloned().unwrap_or_default();
        Some(SourceLine { file, line: line.line, column: line.column })
    }
}
