//! Lowers a checked SPIR-V module to the lane IR: it inlines calls, splits composites into scalars, and
//! resolves pointers to places.
//!
//! A value of any type is the list of its scalars in order ([`Data`]). A pointer is no value of the lane IR,
//! but resolved while lowering ([`Pointer`]). Variables that are addressed by constants only become
//! [`lane::Local`]s, and others are bytes of the lane's frame.
//!
//! Operand types are checked at each use; a mismatch is an error at its line. Calls use a stack of
//! [`Frame`]s, so there is no recursion.

mod addresses;
mod arithmetic;
mod atomics;
mod bits;
mod checks;
mod composite;
mod control;
mod convert;
mod cooperative;
mod glsl;
mod guarded;
mod images;
mod matrices;
mod memory;
mod named;
mod narrow;
mod packing;
pub mod pointers;
mod provenance;
mod registers;
mod subgroup;

use std::rc::Rc;

use kps_scalar::Scalar;
use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use self::images::Opaque;
use self::named::ChainName;
use self::pointers::Pointer;
use super::errors;
use super::instrumentation;
use super::lane::{self, BlockId, Builder, Terminator};
use super::module::constants::lane_ty;
use super::module::types::{MAX_SCALARS, Type, TypeId};
use super::module::{ExtInstSet, Function, Id, Instruction, Line, Module};
use crate::{Checks, DeviceError, Instrument, Result, Schedule};

/// Limit of instructions in a kernel after inlining.
const MAX_INSTS: usize = 200_000;
const MAX_BLOCKS: usize = 20_000;
/// Limit of scalars in all values. Moving a value costs no instruction, but memory in this pass.
const MAX_PARTS: usize = 1 << 20;
const MAX_CALL_DEPTH: usize = 1024;

/// Makes the kernel of the module's entry point, with its instrumentation sites.
pub fn lower(module: &Module<'_>, subgroup_size: u32, instrument: Instrument) -> Result<lane::Kernel> {
    let mut lowerer = Lowerer {
        module,
        builder: Builder::new(module.local_size, subgroup_size),
        frames: Vec::new(),
        globals: FxHashMap::default(),
        definitions: FxHashMap::default(),
        in_memory: registers::in_memory(module),
        n_parts: 0,
        group_slots: None,
        texel_slot: None,
        checks: match instrument {
            Instrument::Checked(checks) => Some(checks),
            Instrument::None | Instrument::Profile => None,
        },
        known_parts: named::KnownParts::default(),
        chain_names: FxHashMap::default(),
        guarded: guarded::Guarded::default(),
        narrow_bits: FxHashMap::default(),
        loaded: FxHashMap::default(),
    };
    lowerer.private_variables()?;
    let exit = lowerer.builder.create_block();
    let entry = lowerer.builder.block;
    lowerer.enter(&module.functions[module.entry], provenance::Values::default(), exit)?;
    debug_assert_eq!(lowerer.builder.block, entry);
    lowerer.start_frame();
    while !lowerer.frames.is_empty() {
        lowerer.step()?;
    }
    lowerer.builder.end(Terminator::Exit);
    let too_deep = |_| errors::too_large("its loops around subgroup operations", None);
    lane::rounds::count(&mut lowerer.builder).map_err(too_deep)?;
    let mut kernel = lowerer.builder.kernel;
    let too_many = |_| errors::too_large("its variables are merged in too many places", None);
    lane::ssa::promote_locals(&mut kernel).map_err(too_many)?;
    lane::known::use_branches(&mut kernel);
    if instrument == Instrument::None {
        lane::shortcuts::close(&mut kernel);
    }
    if let Instrument::Checked(checks) = instrument {
        instrumentation::memory::insert(&mut kernel, checks);
        kernel.is_shuffled = checks.schedule != Schedule::InOrder;
    }
    Ok(kernel)
}

struct Lowerer<'m> {
    module: &'m Module<'m>,
    builder: Builder,
    frames: Vec<Frame<'m>>,
    /// Global variables that were used so far.
    globals: FxHashMap<Id, Pointer>,
    /// Definitions in the functions in which pointers were followed.
    definitions: FxHashMap<Id, Rc<provenance::Definitions<'m>>>,
    /// Variables and parameters with dynamic indices.
    in_memory: FxHashSet<Id>,
    /// Number of scalars in all values so far.
    n_parts: usize,
    /// Offset and number of slots for operands of subgroup operations in the lane's memory.
    group_slots: Option<(u32, u32)>,
    /// Offset of the texel memory in the lane's memory.
    texel_slot: Option<u32>,
    /// The checks to insert.
    checks: Option<Checks>,
    /// Names of memory, and of pointers into it.
    known_parts: named::KnownParts,
    chain_names: FxHashMap<Id, ChainName>,
    guarded: guarded::Guarded,
    /// The bits of narrow numbers that were loaded.
    narrow_bits: FxHashMap<(Scalar, lane::Value), lane::Value>,
    /// The lines of loads in checked kernels.
    loaded: FxHashMap<lane::Value, Line>,
}

/// A function that is being inlined.
struct Frame<'m> {
    function: &'m Function,
    /// The line of the call, for instructions without a line of their own.
    called_at: Option<Line>,
    /// As in [`Line::call`].
    call: u32,
    /// Each with its defining block.
    values: provenance::Values,
    /// The first block of the kernel for each block of the function, with its phis as parameters.
    starts: Vec<BlockId>,
    /// The current block as an index into the function's order, and its next instruction.
    position: usize,
    next: usize,
    /// The target of returns, with the result as parameters.
    after: BlockId,
    /// The pointer that it returns, if any, as the block after the call sees it.
    chosen: Option<Pointer>,
}

impl Frame<'_> {
    fn line_of(&self, inst: &Instruction) -> Option<Line> {
        inst.line.map(|line| Line { call: self.call, ..line }).or(self.called_at)
    }
}

#[derive(Clone, Debug)]
enum Operand {
    Data(Data),
    Pointer(Pointer),
    Opaque(Opaque),
}

/// The scalars of a value, in order.
#[derive(Clone, Debug)]
struct Data {
    ty: TypeId,
    parts: Rc<[lane::Value]>,
}

impl<'m> Lowerer<'m> {
    /// Lowers one instruction or terminator.
    fn step(&mut self) -> Result<()> {
        self.check_size()?;
        let frame = self.frames.last_mut().expect("a step is taken only while a frame is open");
        let function = frame.function;
        let block = &function.blocks[function.flow.order[frame.position]];
        if let Some(inst) = block.body.get(frame.next) {
            frame.next += 1;
            self.builder.line = frame.line_of(inst);
            return self.instruction(inst);
        }
        self.builder.line = frame.line_of(&block.end);
        self.terminator(block)?;
        self.next_block();
        Ok(())
    }

    fn check_size(&self) -> Result<()> {
        let (n_insts, n_blocks) = (self.builder.n_insts(), self.builder.kernel.blocks.len());
        let what = if n_insts > MAX_INSTS {
            format!("more than {MAX_INSTS} instructions once calls are inlined")
        } else if n_blocks > MAX_BLOCKS {
            format!("more than {MAX_BLOCKS} blocks once calls are inlined")
        } else if self.n_parts > MAX_PARTS {
            format!("its values have more than {MAX_PARTS} scalars")
        } else {
            return Ok(());
        };
        Err(errors::too_large(what, self.module.line(self.builder.line)))
    }

    fn next_block(&mut self) {
        let frame = self.frames.last_mut().expect("the block that ended has a frame");
        frame.position += 1;
        frame.next = 0;
        match frame.function.flow.order.get(frame.position) {
            Some(&block) => self.builder.block = frame.starts[block],
            None => {
                self.builder.block = frame.after;
                self.frames.pop();
            }
        }
    }

    fn instruction(&mut self, inst: &'m Instruction) -> Result<()> {
        if let Some(checks) = self.checks {
            self.check(inst, checks)?;
        }
        match inst.op {
            Op::Variable => self.variable(inst),
            Op::Load => self.load(inst),
            Op::Store => self.store(inst),
            Op::CopyMemory => self.copy_memory(inst),
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                self.access_chain(inst)
            }
            Op::ConvertUToPtr | Op::ConvertPtrToU => self.address_and_int(inst),
            Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff => self.compare_pointers(inst),
            Op::Select if self.chooses_pointers(inst) => self.select_pointer(inst),
            Op::ArrayLength => self.array_length(inst),
            // Assumptions need no code.
            Op::AssumeTrueKHR => Ok(()),
            Op::CopyObject | Op::ExpectKHR => {
                let operand = self.operand(inst, 2)?;
                self.define(inst, operand)
            }
            Op::FunctionCall => self.call(inst),
            Op::ExtInst => match self.module.ext_inst_sets.get(&self.id(inst, 2)?) {
                Some(ExtInstSet::Glsl) => self.glsl(inst),
                Some(ExtInstSet::NonSemantic | ExtInstSet::Checks) => Ok(()),
                _ => Err(self.unsupported(inst, "only the set `GLSL.std.450` is known here")),
            },
            Op::ControlBarrier => self.barrier(inst),
            // Lanes of a workgroup run one after the other, and memory is coherent between workgroups.
            Op::MemoryBarrier => Ok(()),
            op if atomics::is_atomic(op) => self.atomics(inst),
            op if cooperative::is_known(op) => self.cooperative(inst),
            op if images::is_known(op) => self.images(inst),
            op if subgroup::is_known(op) => self.subgroup(inst),
            Op::Undef => {
                let ty = self.result_type(inst)?;
                let data = self.zero(inst, ty)?;
                self.define(inst, Operand::Data(data))
            }
            op => match self.value_of(inst) {
                Some(data) => {
                    let data = data?;
                    self.define(inst, Operand::Data(data))
                }
                None => Err(errors::unknown_instruction(op, self.module.line(inst.line))),
            },
        }
    }

    /// The result of a pure instruction. `None` if it is unknown.
    fn value_of(&mut self, inst: &Instruction) -> Option<Result<Data>> {
        self.composite(inst)
            .or_else(|| self.bits(inst))
            .or_else(|| self.matrices(inst))
            .or_else(|| self.conversions(inst))
            .or_else(|| self.arithmetic(inst))
    }

    fn frame(&self) -> &Frame<'m> {
        self.frames.last().expect("instructions are lowered inside a frame")
    }

    /// The current block of the function.
    fn current(&self) -> usize {
        let frame = self.frame();
        frame.function.flow.order[frame.position]
    }

    fn id(&self, inst: &Instruction, i: usize) -> Result<Id> {
        self.word(inst, i).map(Id)
    }

    fn word(&self, inst: &Instruction, i: usize) -> Result<u32> {
        let word = self.module.operands(inst).get(i).copied();
        word.ok_or_else(|| self.malformed(inst, "an operand is missing"))
    }

    fn result_type(&self, inst: &Instruction) -> Result<TypeId> {
        let id = self.id(inst, 0)?;
        self.module.types.by_id(id).ok_or_else(|| self.malformed(inst, &format!("%{} is no type", id.0)))
    }

    /// The value of an operand in the current block.
    fn operand(&mut self, inst: &Instruction, i: usize) -> Result<Operand> {
        let (id, block) = (self.id(inst, i)?, self.current());
        self.operand_by_id(inst, id, block)
    }

    /// The value of an id at the end of a block of the current function.
    fn operand_by_id(&mut self, inst: &Instruction, id: Id, block: usize) -> Result<Operand> {
        if let Some(constant) = self.module.constants.get(&id) {
            let scalars = self.module.types.scalars(constant.ty);
            let bits = scalars.into_iter().zip(constant.parts.iter());
            let parts = bits.map(|(scalar, &bits)| self.builder.constant(lane_ty(scalar), bits)).collect();
            return Ok(Operand::Data(Data { ty: constant.ty, parts }));
        }
        let frame = self.frame();
        if let Some((operand, defined_in)) = frame.values.get(&id) {
            return match frame.function.flow.dominates(*defined_in, block) {
                true => Ok(operand.clone()),
                false => {
                    Err(self.malformed(inst, &format!("%{} is not defined on every path to here", id.0)))
                }
            };
        }
        if let Some(pointer) = self.global(inst, id)? {
            return Ok(Operand::Pointer(pointer));
        }
        Err(self.malformed(inst, &format!("%{} is no value here", id.0)))
    }

    fn data(&mut self, inst: &Instruction, i: usize) -> Result<Data> {
        match self.operand(inst, i)? {
            Operand::Data(data) => Ok(data),
            Operand::Pointer(pointer) => self.address_of(inst, pointer),
            Operand::Opaque(_) => Err(self.malformed(inst, "an image is used as a value")),
        }
    }

    fn pointer(&mut self, inst: &Instruction, i: usize) -> Result<Pointer> {
        match self.operand(inst, i)? {
            Operand::Pointer(pointer) => Ok(pointer),
            Operand::Data(data) if self.module.types.is_address(data.ty) => Ok(self.pointer_at(data)),
            Operand::Data(_) | Operand::Opaque(_) => {
                Err(self.malformed(inst, "a value is used as a pointer"))
            }
        }
    }

    /// A scalar or vector operand, with its scalar type.
    fn scalars(&mut self, inst: &Instruction, i: usize) -> Result<(Scalar, Data)> {
        let data = self.data(inst, i)?;
        match self.module.types.as_scalars(data.ty) {
            Some((scalar, _)) => Ok((scalar, data)),
            None => Err(self.malformed(inst, "an operand is no scalar or vector")),
        }
    }

    /// A scalar int operand.
    fn int(&mut self, inst: &Instruction, i: usize) -> Result<(Scalar, lane::Value)> {
        match self.scalars(inst, i)? {
            (scalar, data) if scalar.is_int() && data.parts.len() == 1 => Ok((scalar, data.parts[0])),
            _ => Err(self.malformed(inst, "an operand is no int")),
        }
    }

    /// The value of an int constant.
    fn constant_int(&self, inst: &Instruction, i: usize) -> Result<u64> {
        let constant = self.module.constants.get(&self.id(inst, i)?);
        let value = constant.and_then(|constant| constant.as_int(&self.module.types));
        value.ok_or_else(|| self.malformed(inst, "an operand is no int constant"))
    }

    /// The result type, if it is a scalar or vector.
    fn result_scalars(&self, inst: &Instruction) -> Result<(TypeId, Scalar, usize)> {
        let ty = self.result_type(inst)?;
        match self.module.types.as_scalars(ty) {
            Some((scalar, n)) => Ok((ty, scalar, n as usize)),
            None => Err(self.malformed(inst, "the result is no scalar or vector")),
        }
    }

    fn define(&mut self, inst: &Instruction, mut operand: Operand) -> Result<()> {
        let (ty, id, block) = (self.result_type(inst)?, self.id(inst, 1)?, self.current());
        let fits = match &operand {
            Operand::Data(data) => self.module.types.same(data.ty, ty),
            Operand::Pointer(pointer) => pointer.has_type(&self.module.types, ty),
            Operand::Opaque(opaque) => self.module.types.same(opaque.ty, ty),
        };
        if !fits {
            return Err(self.malformed(inst, "the result has another type"));
        }
        match &mut operand {
            Operand::Data(data) => self.n_parts += data.parts.len(),
            Operand::Pointer(pointer) => {
                if let Type::Pointer { stride, .. } = *self.module.types.get(ty) {
                    pointer.stride = stride;
                }
            }
            Operand::Opaque(_) => {}
        }
        let frame = self.frames.last_mut().expect("instructions are lowered inside a frame");
        frame.values.insert(id, (operand, block));
        Ok(())
    }

    /// The zero value of a type.
    fn zero(&mut self, inst: &Instruction, ty: TypeId) -> Result<Data> {
        let scalars = self.value_scalars(inst, ty)?;
        let parts = scalars.into_iter().map(|scalar| self.builder.constant(lane_ty(scalar), 0)).collect();
        Ok(Data { ty, parts })
    }

    /// The scalars of a type whose values can be loaded whole.
    fn value_scalars(&self, inst: &Instruction, ty: TypeId) -> Result<Vec<Scalar>> {
        let types = &self.module.types;
        if !types.is_data(ty) {
            return Err(self.malformed(inst, "there are no values of this type"));
        }
        if types.n_scalars(ty) > MAX_SCALARS {
            let what = format!("a value has more than {MAX_SCALARS} scalars");
            return Err(errors::too_large(what, self.module.line(inst.line)));
        }
        Ok(types.scalars(ty))
    }

    fn malformed(&self, inst: &Instruction, message: &str) -> DeviceError {
        errors::malformed_at(inst.op, message, self.module.line(inst.line))
    }

    fn unsupported(&self, inst: &Instruction, message: &str) -> DeviceError {
        errors::unsupported(inst.op, message, self.module.line(inst.line))
    }
}
