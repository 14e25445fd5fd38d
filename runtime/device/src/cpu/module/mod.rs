//! A SPIR-V module, read and checked. In go words from anywhere; out comes a [`Module`] of which later
//! phases may take for granted:
//!
//! - every instruction lies within the words and has the operands that its reader looked at;
//! - ids are defined once; types and constants name only what stands before them;
//! - a function's blocks are closed: branches go to blocks of the same function, each block ends with its
//!   only terminator, the first is no target;
//! - calls name functions of the module and never come back to their caller.
//!
//! `docs/src/reference/cpu-device.md` lists the instructions that are taken; anything else is refused by name.
//!
//! Operand types inside functions, and that a definition dominates its uses, are checked as a function is
//! lowered: an unused function may hold anything.

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

/// What an `OpLine` says; the file is the id of an `OpString`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    pub file: Id,
    pub line: u32,
    pub column: u32,
    /// The call of a function that led there, counted from 1 in [`Kernel::calls`](super::lane::Kernel::calls); 0 in
    /// the entry point itself.
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
    /// What ids are called, where the module says.
    pub names: FxHashMap<Id, String>,
    pub types: Types,
    pub constants: FxHashMap<Id, Constant>,
    pub globals: Vec<Global>,
    pub functions: Vec<Function>,
    pub function_by_id: FxHashMap<Id, usize>,
    pub ext_inst_sets: FxHashMap<Id, ExtInstSet>,
    /// The function that the entry point names.
    pub entry: usize,
    /// The functions that the entry point reaches, callees before callers.
    pub call_order: Vec<usize>,
    pub local_size: [u32; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtInstSet {
    Glsl,
    /// Our own kernels' [`crate::interface::checks`].
    Checks,
    /// Says something about the program, does nothing.
    NonSemantic,
    Unknown,
}

/// A variable outside functions.
#[derive(Clone, Debug)]
pub struct Global {
    pub id: Id,
    pub class: StorageClass,
    pub pointee: TypeId,
    pub initializer: Option<Id>,
    pub set: Option<u32>,
    pub binding: Option<u32>,
    /// As SPIR-V numbers them.
    pub builtin: Option<u32>,
    pub line: Option<Line>,
}

impl Module<'_> {
    /// Whether it tells what its source asked for.
    pub fn is_instrumented(&self) -> bool {
        self.ext_inst_sets.values().any(|set| *set == ExtInstSet::Checks)
    }

    pub fn operands(&self, inst: &Instruction) -> &[u32] {
        &self.words[inst.first as usize..(inst.first + inst.n) as usize]
    }

    /// What the image or texture of a binding is called.
    pub fn image_name(&self, (set, binding): (u32, u32)) -> ArrayName {
        let mut globals = self.globals.iter();
        let global = globals.find(|global| (global.set, global.binding) == (Some(set), Some(binding)));
        let name = global.and_then(|global| self.name(global.id));
        name.unwrap_or(ArrayName::Binding { set, binding })
    }

    /// What the module calls something in memory.
    pub fn name(&self, id: Id) -> Option<ArrayName> {
        let name = self.names.get(&id).filter(|name| !name.is_empty())?;
        Some(ArrayName::Name(name.clone()))
    }

    /// What a string of the module calls something, or the name of what has an id.
    pub fn source_name(&self, id: Id) -> Option<ArrayName> {
        let given = self.strings.0.get(&id).map(|name| ArrayName::Name(name.clone()));
        given.or_else(|| self.name(id))
    }

    /// Where the entry point begins.
    pub fn first_line(&self) -> Option<SourceLine> {
        let mut insts = self.functions[self.entry].blocks.iter().flat_map(|block| &block.body);
        self.line(insts.find_map(|inst| inst.line))
    }

    pub fn line(&self, line: Option<Line>) -> Option<SourceLine> {
        self.strings.line(line)
    }
}

/// Names of files by their ids, and whatever else the module says in strings.
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
