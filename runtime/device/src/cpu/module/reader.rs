//! Reads a binary into a [`Module`], in one pass. [`super::declare`] reads types, constants and variables,
//! and [`super::bodies`] reads functions. The rest of a module is read here.

use rspirv::spirv::{self, AddressingModel, BuiltIn, ExecutionMode, ExecutionModel, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::constants::Constant;
use super::decorations::Decorations;
use super::functions::{self, Function};
use super::types::{Type, TypeId, Types};
use super::{ExtInstSet, Id, Instruction, Line, Module, Strings};
use crate::cpu::errors;
use crate::interface::checks::CHECKS;
use crate::{DeviceError, PipelineOptions, Result};

const HEADER_WORDS: usize = 5;
const MAX_WORDS: usize = 1 << 26;

/// Reads a module for an entry point that reflection has found. Applies the specialisation constants.
pub fn read<'w>(words: &'w [u32], options: &PipelineOptions, subgroup_size: u32) -> Result<Module<'w>> {
    // Word offsets are stored in 32 bits.
    if words.len() > MAX_WORDS {
        return Err(errors::too_large(
            format!("it has {} words, the most is {MAX_WORDS}", words.len()),
            None,
        ));
    }
    let module = Module {
        words,
        strings: Strings::default(),
        names: FxHashMap::default(),
        types: Types::default(),
        constants: FxHashMap::default(),
        globals: Vec::new(),
        functions: Vec::new(),
        function_by_id: FxHashMap::default(),
        ext_inst_sets: FxHashMap::default(),
        entry: 0,
        call_order: Vec::new(),
        local_size: [1; 3],
    };
    let mut reader = Reader {
        module,
        options,
        subgroup_size,
        decorations: Decorations::default(),
        defined: FxHashSet::default(),
        line: None,
        line_before: None,
        entry_points: Vec::new(),
        local_size: None,
        workgroup_size: None,
        n_constant_scalars: 0,
        open: None,
        wide: FxHashSet::default(),
    };
    reader.instructions()?;
    reader.finish()
}

pub(super) struct Reader<'w, 'o> {
    pub(super) module: Module<'w>,
    pub(super) options: &'o PipelineOptions,
    /// Invocations that share a cooperative matrix.
    pub(super) subgroup_size: u32,
    pub(super) decorations: Decorations,
    pub(super) defined: FxHashSet<Id>,
    pub(super) line: Option<Line>,
    /// The last line of the earlier blocks in the current function.
    pub(super) line_before: Option<Line>,
    /// Compute entry points: name and function.
    entry_points: Vec<(String, Id)>,
    /// Entry point and its local size: literals, or ids of constants.
    local_size: Option<(Id, LocalSize)>,
    /// The constant decorated as `WorkgroupSize`.
    workgroup_size: Option<Id>,
    pub(super) n_constant_scalars: usize,
    pub(super) open: Option<OpenFunction>,
    /// Ids of 64-bit ints in functions: a switch over one has longer literals.
    pub(super) wide: FxHashSet<Id>,
}

#[derive(Clone, Copy)]
enum LocalSize {
    Literal([u32; 3]),
    Ids([Id; 3]),
}

/// The current function, and its unfinished block.
pub(super) struct OpenFunction {
    pub(super) function: Function,
    /// The parameter types of its function type.
    pub(super) params: Vec<TypeId>,
    pub(super) block: Option<(Id, Vec<Instruction>, Vec<Instruction>)>,
}

impl<'w> Reader<'w, '_> {
    fn instructions(&mut self) -> Result<()> {
        let words = self.module.words;
        let mut at = HEADER_WORDS;
        while at < words.len() {
            let (opcode, n_words) = (words[at] & 0xffff, (words[at] >> 16) as usize);
            if n_words == 0 || at + n_words > words.len() {
                let message = format!("the instruction at word {at} is cut off");
                return Err(errors::malformed(message, self.module.line(self.line)));
            }
            let Some(op) = Op::from_u32(opcode) else {
                let message = format!("the opcode {opcode} at word {at} is not known");
                return Err(errors::malformed(message, self.module.line(self.line)));
            };
            let inst = Instruction { op, first: at as u32 + 1, n: n_words as u32 - 1, line: self.line };
            self.instruction(&inst)?;
            at += n_words;
        }
        match &self.open {
            Some(_) => Err(errors::malformed("the last function has no end", None)),
            None => Ok(()),
        }
    }

    fn instruction(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::Line => {
                let (file, line, column) = (self.id(inst, 0)?, self.word(inst, 1)?, self.word(inst, 2)?);
                self.line = Some(Line { file, line, column, call: 0 });
            }
            Op::NoLine => self.line = None,
            Op::Function | Op::FunctionParameter | Op::FunctionEnd | Op::Label => self.function_part(inst)?,
            _ if self.open.is_some() => self.body(inst)?,
            _ => self.declaration(inst)?,
        }
        Ok(())
    }

    fn declaration(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::Decorate => {
                let operands = self.module.operands(inst);
                let operand = operands.get(2).copied();
                let (id, decoration) = (self.id(inst, 0)?, self.word(inst, 1)?);
                if decoration == spirv::Decoration::BuiltIn as u32
                    && operand == Some(BuiltIn::WorkgroupSize as u32)
                {
                    self.workgroup_size = Some(id);
                }
                self.decorations.decorate(id, decoration, operand);
            }
            Op::MemberDecorate => {
                let operand = self.module.operands(inst).get(3).copied();
                let (id, member, decoration) = (self.id(inst, 0)?, self.word(inst, 1)?, self.word(inst, 2)?);
                self.decorations.decorate_member(id, member, decoration, operand);
            }
            Op::GroupDecorate => {
                let group = self.id(inst, 0)?;
                for &to in &self.module.operands(inst)[1..] {
                    self.decorations.copy(group, Id(to));
                }
            }
            Op::String => {
                let id = self.define(inst, 0)?;
                let text = text(&self.module.operands(inst)[1..]);
                self.module.strings.0.insert(id, text);
            }
            Op::Name => {
                let named = self.id(inst, 0)?;
                let name = text(&self.module.operands(inst)[1..]);
                self.module.names.insert(named, name);
            }
            Op::MemberName => {
                let (of, member) = (self.id(inst, 0)?, self.word(inst, 1)?);
                let name = text(&self.module.operands(inst)[2..]);
                self.decorations.member_names.insert((of, member), name);
            }
            Op::ExtInstImport => self.ext_inst_import(inst)?,
            Op::MemoryModel => self.memory_model(inst)?,
            Op::EntryPoint => self.entry_point(inst)?,
            Op::ExecutionMode | Op::ExecutionModeId => self.execution_mode(inst)?,
            Op::Variable => self.global(inst)?,
            op if is_type(op) => self.type_declaration(inst)?,
            op if is_constant(op) => self.constant(inst)?,
            op if is_silent(op) => {}
            op => return Err(errors::unknown_instruction(op, self.module.line(inst.line))),
        }
        Ok(())
    }

    fn ext_inst_import(&mut self, inst: &Instruction) -> Result<()> {
        let id = self.define(inst, 0)?;
        let name = text(&self.module.operands(inst)[1..]);
        let set = match name.as_str() {
            "GLSL.std.450" => ExtInstSet::Glsl,
            CHECKS => ExtInstSet::Checks,
            name if name.starts_with("NonSemantic.") || name.contains("DebugInfo") => ExtInstSet::NonSemantic,
            _ => ExtInstSet::Unknown,
        };
        self.module.ext_inst_sets.insert(id, set);
        Ok(())
    }

    fn memory_model(&mut self, inst: &Instruction) -> Result<()> {
        match AddressingModel::from_u32(self.word(inst, 0)?) {
            Some(AddressingModel::Logical | AddressingModel::PhysicalStorageBuffer64) => Ok(()),
            _ => {
                let message = "the addressing models Logical and PhysicalStorageBuffer64 are supported";
                Err(self.unsupported(inst, message))
            }
        }
    }

    fn entry_point(&mut self, inst: &Instruction) -> Result<()> {
        if self.word(inst, 0)? == ExecutionModel::GLCompute as u32 {
            let function = self.id(inst, 1)?;
            let name = text(self.module.operands(inst).get(2..).unwrap_or_default());
            self.entry_points.push((name, function));
        }
        Ok(())
    }

    fn execution_mode(&mut self, inst: &Instruction) -> Result<()> {
        let size = |reader: &Self| Ok([reader.word(inst, 2)?, reader.word(inst, 3)?, reader.word(inst, 4)?]);
        let (function, mode) = (self.id(inst, 0)?, self.word(inst, 1)?);
        let size = match ExecutionMode::from_u32(mode) {
            Some(ExecutionMode::LocalSize) => LocalSize::Literal(size(self)?),
            Some(ExecutionMode::LocalSizeId) => LocalSize::Ids(size(self)?.map(Id)),
            _ => return Ok(()),
        };
        if self.chosen_entry() == Some(function) {
            self.local_size = Some((function, size));
        }
        Ok(())
    }

    fn chosen_entry(&self) -> Option<Id> {
        let chosen = self.entry_points.iter().find(|(name, _)| *name == self.options.entry_point);
        chosen.map(|(_, function)| *function)
    }

    fn finish(mut self) -> Result<Module<'w>> {
        let Some(entry) = self.chosen_entry() else {
            return Err(errors::malformed("its entry point has no readable name", None));
        };
        let Some(&function) = self.module.function_by_id.get(&entry) else {
            return Err(errors::malformed("the entry point names no function", None));
        };
        let function_type = &self.module.functions[function];
        if !function_type.params.is_empty() || !matches!(self.module.types.get(function_type.ret), Type::Void)
        {
            return Err(errors::malformed("the entry point takes or returns something", None));
        }
        self.module.entry = function;
        self.module.local_size = self.work_group_size()?;
        functions::link(&mut self.module)?;
        Ok(self.module)
    }

    fn work_group_size(&self) -> Result<[u32; 3]> {
        let constant = |id: Id| self.module.constants.get(&id);
        if let Some(size) = self.workgroup_size.and_then(constant)
            && let [x, y, z] = size.parts[..]
        {
            return Ok([x as u32, y as u32, z as u32]);
        }
        let int = |id: Id| constant(id).and_then(|size| size.as_int(&self.module.types));
        match self.local_size {
            Some((_, LocalSize::Literal(size))) => Ok(size),
            Some((_, LocalSize::Ids(ids))) => match ids.map(int) {
                [Some(x), Some(y), Some(z)] => Ok([x as u32, y as u32, z as u32]),
                _ => Err(errors::malformed("`LocalSizeId` names no int constants", None)),
            },
            None => Err(errors::malformed("the entry point has no `LocalSize`", None)),
        }
    }

    pub(super) fn word(&self, inst: &Instruction, i: usize) -> Result<u32> {
        let word = self.module.operands(inst).get(i).copied();
        word.ok_or_else(|| self.malformed(inst, "an operand is missing"))
    }

    pub(super) fn id(&self, inst: &Instruction, i: usize) -> Result<Id> {
        self.word(inst, i).map(Id)
    }

    /// The id that operand `i` defines.
    pub(super) fn define(&mut self, inst: &Instruction, i: usize) -> Result<Id> {
        let id = self.id(inst, i)?;
        if !self.defined.insert(id) {
            return Err(self.malformed(inst, &format!("%{} is defined twice", id.0)));
        }
        Ok(id)
    }

    pub(super) fn type_at(&self, inst: &Instruction, i: usize) -> Result<TypeId> {
        let id = self.id(inst, i)?;
        self.module.types.by_id(id).ok_or_else(|| self.malformed(inst, &format!("%{} is no type", id.0)))
    }

    pub(super) fn constant_at(&self, inst: &Instruction, i: usize) -> Result<&Constant> {
        let id = self.id(inst, i)?;
        let constant = self.module.constants.get(&id);
        constant.ok_or_else(|| self.malformed(inst, &format!("%{} is no constant", id.0)))
    }

    pub(super) fn malformed(&self, inst: &Instruction, message: &str) -> DeviceError {
        errors::malformed_at(inst.op, message, self.module.line(inst.line))
    }

    pub(super) fn unsupported(&self, inst: &Instruction, message: &str) -> DeviceError {
        errors::unsupported(inst.op, message, self.module.line(inst.line))
    }
}

/// A string operand: bytes from the low end of each word up to a zero.
fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

fn is_type(op: Op) -> bool {
    // Core types have consecutive numbers; extension types are listed.
    (Op::TypeVoid as u32..=Op::TypeForwardPointer as u32).contains(&(op as u32))
        || (op as u32 > 4000 && format!("{op:?}").starts_with("Type"))
}

fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::ConstantTrue
            | Op::ConstantFalse
            | Op::Constant
            | Op::ConstantComposite
            | Op::ConstantNull
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstant
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
            | Op::Undef
    )
}

/// Declarations without an effect here. Capabilities and extensions are checked by the instructions that need
/// them.
fn is_silent(op: Op) -> bool {
    matches!(
        op,
        Op::Nop
            | Op::Capability
            | Op::Extension
            | Op::Source
            | Op::SourceContinued
            | Op::SourceExtension
            | Op::ModuleProcessed
            | Op::DecorationGroup
            | Op::GroupMemberDecorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorateString
            | Op::ExtInst
    )
}
