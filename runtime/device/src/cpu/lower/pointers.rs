//! What pointers refer to, and access chains.

use std::rc::Rc;

use kps_scalar::Scalar;
use rspirv::spirv::{BuiltIn, Op, StorageClass};

use super::images::Opaque;
use super::named::ChainName;
use super::{Data, Lowerer, Operand};
use crate::Result;
use crate::cpu::errors;
use crate::cpu::lane::{self, Binary, Compare, Convert, Local, Space, Ty};
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{Layout, MatrixLayout, Type, TypeId, Types};
use crate::cpu::module::{Global, Id, Instruction};

/// Variables with more scalars are in memory, however they are used.
const MAX_REGISTERS: u32 = 128;
/// Limit in bytes of one lane's frame, and of a workgroup's shared memory.
pub const MAX_FRAME: u64 = 1 << 18;
pub const MAX_SHARED: u64 = 1 << 16;
/// Limit of dynamic offsets, so that sums of a few never wrap around.
const FAR: i64 = 1 << 56;

#[derive(Clone, Debug)]
pub struct Pointer {
    pub class: StorageClass,
    pub pointee: TypeId,
    /// The stride of the array into which it points, if its type has one.
    pub stride: Option<u32>,
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Place {
    Memory(MemoryPlace),
    /// Consecutive locals, one for each scalar of the pointee.
    Registers(Local),
    /// Read-only values.
    Values(Rc<[lane::Value]>),
    /// An image or a sampler.
    Opaque(Opaque),
    /// The address of a texel, only for atomics.
    Texel(lane::Value),
}

#[derive(Clone, Debug)]
pub struct MemoryPlace {
    pub space: Space,
    /// If the space is selected at run time: the last of these whose condition is true.
    pub others: Rc<[(lane::Value, Space)]>,
    pub dynamic: Option<lane::Value>,
    pub constant: u64,
    pub layout: Layout,
    pub matrix: MatrixLayout,
    /// Bytes between the components of a vector that is a column of a row-major matrix.
    pub component_stride: Option<u32>,
}

impl Pointer {
    pub fn has_type(&self, types: &Types, ty: TypeId) -> bool {
        match *types.get(ty) {
            Type::Pointer { class, pointee, .. } => class == self.class && types.same(pointee, self.pointee),
            _ => false,
        }
    }
}

impl<'m> Lowerer<'m> {
    /// A global variable.
    pub(super) fn global(&mut self, inst: &Instruction, id: Id) -> Result<Option<Pointer>> {
        if let Some(pointer) = self.globals.get(&id) {
            return Ok(Some(pointer.clone()));
        }
        let module = self.module;
        let Some(global) = module.globals.iter().find(|global| global.id == id) else {
            return Ok(None);
        };
        let place = match global.class {
            StorageClass::StorageBuffer | StorageClass::Uniform => self.buffer(inst, global)?,
            StorageClass::UniformConstant => self.opaque_variable(inst, global)?,
            StorageClass::PushConstant => self.push_constants(inst, global)?,
            StorageClass::Workgroup => self.shared(inst, global)?,
            StorageClass::Input => Place::Values(self.builtin(inst, global)?),
            class => {
                return Err(
                    self.unsupported(inst, &format!("variables of class `{class:?}` are not known here"))
                );
            }
        };
        let pointer = Pointer { class: global.class, pointee: global.pointee, stride: None, place };
        // Built-in inputs are computed where they are used, so each use computes its own.
        if global.class != StorageClass::Input {
            self.globals.insert(id, pointer.clone());
        }
        Ok(Some(pointer))
    }

    fn buffer(&mut self, inst: &Instruction, global: &Global) -> Result<Place> {
        let (Some(set), Some(binding)) = (global.set, global.binding) else {
            return Err(self.malformed(inst, "a buffer has no `DescriptorSet` or no `Binding`"));
        };
        if !matches!(self.module.types.get(global.pointee), Type::Struct(_)) {
            return Err(self.unsupported(inst, "a buffer is one structure here, no array of them"));
        }
        let buffers = &mut self.builder.kernel.buffers;
        let known = buffers.iter().position(|&slot| slot == (set, binding));
        let buffer = known.unwrap_or_else(|| {
            buffers.push((set, binding));
            buffers.len() - 1
        });
        if known.is_none() {
            self.name_buffer(global, buffer as u32);
        }
        Ok(explicit(Space::Buffer(buffer as u32)))
    }

    fn push_constants(&mut self, inst: &Instruction, global: &Global) -> Result<Place> {
        let size = self.module.types.size(global.pointee, Layout::Explicit, MatrixLayout::default());
        match size {
            Some(size @ ..=4096) => self.builder.kernel.push_size = size as u32,
            Some(_) => return Err(errors::too_large("its push constants", self.module.line(inst.line))),
            None => return Err(self.malformed(inst, "the push constants lack a layout")),
        }
        Ok(explicit(Space::Push))
    }

    fn shared(&mut self, inst: &Instruction, global: &Global) -> Result<Place> {
        let constant = u64::from(self.builder.kernel.shared_size);
        let end = self.natural_size(inst, global.pointee)?.saturating_add(constant);
        if end > MAX_SHARED {
            return Err(errors::too_much_shared(end, MAX_SHARED));
        }
        self.builder.kernel.shared_size = end.next_multiple_of(8) as u32;
        // Vulkan only allows `OpConstantNull`.
        self.builder.kernel.clears_shared |= global.initializer.is_some();
        self.name_shared(global, constant, end);
        Ok(natural(Space::Shared, constant))
    }

    fn natural_size(&self, inst: &Instruction, ty: TypeId) -> Result<u64> {
        let size = self.module.types.size(ty, Layout::Natural, MatrixLayout::default());
        let size = size.filter(|_| self.module.types.is_data(ty));
        size.ok_or_else(|| self.malformed(inst, "no variable has this type"))
    }

    fn builtin(&mut self, inst: &Instruction, global: &Global) -> Result<Rc<[lane::Value]>> {
        let builtin = global.builtin.and_then(BuiltIn::from_u32);
        let axes = |builtin: fn(u8) -> lane::Builtin| vec![builtin(0), builtin(1), builtin(2)];
        let parts: Vec<lane::Value> = match builtin {
            Some(BuiltIn::WorkgroupSize) => self.module.local_size.map(|n| self.builder.i32(n as i32)).into(),
            other => {
                let builtins = match other {
                    Some(BuiltIn::GlobalInvocationId) => axes(lane::Builtin::GlobalId),
                    Some(BuiltIn::LocalInvocationId) => axes(lane::Builtin::LocalId),
                    Some(BuiltIn::WorkgroupId) => axes(lane::Builtin::GroupId),
                    Some(BuiltIn::NumWorkgroups) => axes(lane::Builtin::NumGroups),
                    Some(BuiltIn::LocalInvocationIndex) => vec![lane::Builtin::LocalIndex],
                    Some(other) => {
                        if let Some(parts) = self.subgroup_builtin(other) {
                            return self.builtin_parts(inst, global, parts);
                        }
                        let message = format!("the built-in `{other:?}` is not known here");
                        return Err(self.unsupported(inst, &message));
                    }
                    None => return Err(self.unsupported(inst, "an input is no built-in of compute")),
                };
                builtins.into_iter().map(|builtin| self.builder.builtin(builtin)).collect()
            }
        };
        self.builtin_parts(inst, global, parts)
    }

    fn builtin_parts(
        &self,
        inst: &Instruction,
        global: &Global,
        parts: Vec<lane::Value>,
    ) -> Result<Rc<[lane::Value]>> {
        match self.module.types.as_scalars(global.pointee) {
            Some((Scalar::I32 | Scalar::U32, n)) if n as usize == parts.len() => Ok(parts.into()),
            _ => Err(self.malformed(inst, "a built-in has another type")),
        }
    }

    /// Allocates and initialises every `Private` variable.
    pub(super) fn private_variables(&mut self) -> Result<()> {
        let module = self.module;
        for global in module.globals.iter().filter(|global| global.class == StorageClass::Private) {
            self.builder.line = global.line;
            let line = module.line(global.line);
            if !module.types.is_data(global.pointee) {
                return Err(errors::malformed("no variable has the type of a `Private` one", line));
            }
            let place = self.own_variable(global.id, global.pointee);
            let place = place.ok_or_else(|| errors::too_many_variables(MAX_FRAME, line.clone()))?;
            let pointer = Pointer { class: global.class, pointee: global.pointee, stride: None, place };
            if let Some(constant) = global.initializer.and_then(|id| module.constants.get(&id)) {
                if !module.types.same(constant.ty, global.pointee) {
                    return Err(errors::malformed("an initializer has another type", line));
                }
                let scalars = module.types.scalars(constant.ty).into_iter().zip(constant.parts.iter());
                let parts =
                    scalars.map(|(scalar, &bits)| self.builder.constant(lane_ty(scalar), bits)).collect();
                self.write(&pointer, &Data { ty: constant.ty, parts });
            }
            self.globals.insert(global.id, pointer);
        }
        self.builder.line = None;
        Ok(())
    }

    /// Allocates a private variable, and clears it if it is in memory. `None` if there is no room.
    pub(super) fn own_variable(&mut self, id: Id, ty: TypeId) -> Option<Place> {
        let types = &self.module.types;
        if !self.in_memory.contains(&id) && types.n_scalars(ty) <= MAX_REGISTERS {
            let scalars = types.scalars(ty);
            self.n_parts += scalars.len();
            let first = Local(self.builder.kernel.locals.len() as u32);
            for scalar in scalars {
                self.builder.add_local(lane_ty(scalar));
            }
            return Some(Place::Registers(first));
        }
        let size = types.size(ty, Layout::Natural, MatrixLayout::default())?;
        let start = u64::from(self.builder.kernel.frame_size);
        let room =
            size.checked_next_multiple_of(8).filter(|&room| start.saturating_add(room) <= MAX_FRAME)?;
        self.builder.kernel.frame_size += room as u32;
        let (start, size) = (start as u32, size as u32);
        self.builder.clear(start, room as u32);
        Some(natural(Space::Frame { start, size }, 0))
    }

    /// Whether a lane's memory may grow by so many bytes.
    pub(super) fn has_frame_room(&self, size: u32) -> bool {
        u64::from(self.builder.kernel.frame_size) + u64::from(size) <= MAX_FRAME
    }

    pub(super) fn access_chain(&mut self, inst: &Instruction) -> Result<()> {
        let mut pointer = self.pointer(inst, 2)?;
        let by_element = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        if by_element {
            pointer = self.step_by_element(inst, pointer)?;
        }
        let mut name = self.chain_start(inst, &pointer)?;
        for i in if by_element { 4 } else { 3 }..self.module.operands(inst).len() {
            pointer = self.index(inst, pointer, i, name.as_mut())?;
        }
        if let Some(mut name) = name {
            self.check_axes(name.run.take());
            self.chain_names.insert(self.id(inst, 1)?, name);
        }
        self.define(inst, Operand::Pointer(pointer))
    }

    /// One step of an access chain, whose index is operand `i`. `name` advances with it.
    fn index(
        &mut self,
        inst: &Instruction,
        pointer: Pointer,
        i: usize,
        name: Option<&mut ChainName>,
    ) -> Result<Pointer> {
        let (scalar, index) = self.int(inst, i)?;
        let constant = self.builder.as_const(index);
        let types = &self.module.types;
        let (pointee, len) = match types.get(pointer.pointee) {
            Type::Struct(members) => {
                let member = constant.and_then(|idx| members.get(usize::try_from(idx).ok()?));
                let member = member.ok_or_else(|| self.malformed(inst, "no such member"))?;
                (member.ty, None)
            }
            Type::Array { element, len, .. } => (*element, Some(*len)),
            Type::RuntimeArray { element, .. } => (*element, None),
            Type::Matrix { columns, column } => (*column, Some(*columns)),
            Type::Vector { n, scalar } | Type::Cooperative { n, scalar, .. } => {
                (types.scalar(*scalar), Some(*n))
            }
            _ => return Err(self.malformed(inst, "an index into a type without parts")),
        };
        if let Some(name) = name {
            self.check_step(&pointer, name, (self.id(inst, i)?, (scalar, index)), len);
            self.chain_step(name, pointer.pointee, constant);
        }
        let types = &self.module.types;
        let place = match &pointer.place {
            Place::Memory(place) => {
                let place = place.clone();
                Place::Memory(self.index_memory(inst, pointer.pointee, place, scalar, index, len)?)
            }
            Place::Registers(first) => {
                let idx = constant.and_then(|idx| u32::try_from(idx).ok());
                let n = types.n_scalars(pointee);
                let before = idx.and_then(|idx| match types.get(pointer.pointee) {
                    Type::Vector { .. } | Type::Cooperative { .. } => (idx < len.unwrap_or(0)).then_some(idx),
                    _ => types.element(pointer.pointee, idx).map(|(_, before)| before),
                });
                debug_assert!(n > 0);
                match before {
                    Some(before) => Place::Registers(Local(first.0 + before)),
                    None => nowhere(),
                }
            }
            Place::Opaque(_) | Place::Texel(_) => {
                return Err(self.malformed(inst, "an index into a type without parts"));
            }
            Place::Values(parts) => Place::Values([self.pick(parts.clone(), index)].into()),
        };
        Ok(Pointer { class: pointer.class, pointee, stride: None, place })
    }

    /// The part at an index, or the first if it is out of range.
    pub(super) fn pick(&mut self, parts: Rc<[lane::Value]>, index: lane::Value) -> lane::Value {
        if let Some(idx) = self.builder.as_const(index) {
            return *usize::try_from(idx).ok().and_then(|idx| parts.get(idx)).unwrap_or(&parts[0]);
        }
        let ty = self.builder.ty(index);
        let mut picked = parts[0];
        for (i, &part) in parts.iter().enumerate().skip(1) {
            let i = self.builder.int(ty, i as i64);
            let here = self.builder.compare(Compare::Eq, index, i);
            picked = self.builder.select(here, part, picked);
        }
        picked
    }

    fn index_memory(
        &mut self,
        inst: &Instruction,
        ty: TypeId,
        mut place: MemoryPlace,
        scalar: Scalar,
        index: lane::Value,
        len: Option<u32>,
    ) -> Result<MemoryPlace> {
        let types = &self.module.types;
        let (stride, layout) = (place.component_stride.take(), place.layout);
        let step = match types.get(ty) {
            Type::Struct(members) => {
                let idx = self.builder.as_const(index).expect("a member's index was found constant") as usize;
                place.matrix = members[idx].matrix;
                let offset = types.member_offset(members, idx, layout);
                place.constant +=
                    offset.ok_or_else(|| self.malformed(inst, "a member lacks its `Offset`"))?;
                return Ok(place);
            }
            Type::Array { element, stride, .. } | Type::RuntimeArray { element, stride } => {
                types.stride(*element, *stride, layout)
            }
            Type::Matrix { column, .. } => {
                let (scalar, rows) = types.as_scalars(*column).expect("a matrix has vectors as columns");
                match layout {
                    Layout::Natural => Some(u64::from(rows * scalar.bytes())),
                    Layout::Explicit if place.matrix.row_major => {
                        place.component_stride = place.matrix.stride;
                        place.matrix.stride.map(|_| u64::from(scalar.bytes()))
                    }
                    Layout::Explicit => place.matrix.stride.map(u64::from),
                }
            }
            Type::Vector { scalar, .. } => Some(u64::from(stride.unwrap_or(scalar.bytes()))),
            Type::Cooperative { scalar, .. } => Some(u64::from(scalar.bytes())),
            _ => None,
        };
        let step = step.ok_or_else(|| self.malformed(inst, "an array lacks its stride"))?;
        self.step_by(&mut place, step, scalar, index, len);
        Ok(place)
    }

    /// Moves a place by `index * step`. An index beyond a known length leads outside every space.
    pub(super) fn step_by(
        &mut self,
        place: &mut MemoryPlace,
        step: u64,
        scalar: Scalar,
        index: lane::Value,
        len: Option<u32>,
    ) {
        let in_range = |idx: u64| len.is_none_or(|len| idx < u64::from(len));
        match self.builder.as_const(index) {
            Some(idx) if idx < 1 << 31 && in_range(idx) => {
                place.constant = place.constant.saturating_add(idx * step).min(FAR as u64);
                return;
            }
            Some(_) => {
                place.constant = FAR as u64;
                return;
            }
            None => {}
        }
        let index = self.wide_index(scalar, index);
        let step_value = self.builder.int(Ty::I64, step as i64);
        let mut offset = self.builder.binary(Binary::Mul, index, step_value);
        let far = self.builder.int(Ty::I64, FAR);
        // A 32-bit index needs a limit only if its product could wrap around.
        let limit = match (scalar.bits().max(32), len) {
            // Buffers are checked as a whole, as descriptors are. So is an array that fills its space.
            (32, _) if step < 1 << 24 && in_buffer(place) => None,
            (32, Some(len)) if step < 1 << 24 && fills(place, step * u64::from(len)) => None,
            (_, Some(len)) => Some(i64::from(len)),
            (32, None) if step < 1 << 24 => None,
            (_, None) => Some(FAR / step.max(1) as i64),
        };
        if let Some(limit) = limit {
            let limit = self.builder.int(Ty::I64, limit);
            let inside = self.builder.compare(Compare::LtU, index, limit);
            offset = self.builder.select(inside, offset, far);
        }
        place.dynamic = Some(match place.dynamic {
            Some(before) => self.builder.binary(Binary::Add, before, offset),
            None => offset,
        });
    }

    pub(super) fn wide_index(&mut self, scalar: Scalar, index: lane::Value) -> lane::Value {
        match scalar {
            Scalar::I64 | Scalar::U64 => index,
            _ if scalar.is_signed() => {
                let index = self.signed(scalar, index);
                self.builder.convert(Convert::SignExtend, index)
            }
            _ if scalar.is_int() => self.builder.convert(Convert::ZeroExtend, index),
            _ => index,
        }
    }
}

/// Whether a place is checked against its whole buffer, whatever arrays it is in.
fn in_buffer(place: &MemoryPlace) -> bool {
    place.others.is_empty() && matches!(place.space, Space::Buffer(_) | Space::Device | Space::Push)
}

/// Whether an array of `size` bytes fills its space, so that the check of the space suffices.
fn fills(place: &MemoryPlace, size: u64) -> bool {
    let whole = match place.space {
        Space::Frame { size, .. } => u64::from(size),
        Space::Buffer(_) | Space::Device | Space::Push | Space::Shared => return false,
    };
    place.dynamic.is_none() && place.constant == 0 && size == whole
}

/// A place outside of every space: loads read zero, and stores are dropped.
fn nowhere() -> Place {
    natural(Space::Frame { start: 0, size: 0 }, FAR as u64)
}

pub(super) fn explicit(space: Space) -> Place {
    memory(space, 0, Layout::Explicit)
}

pub(super) fn natural(space: Space, constant: u64) -> Place {
    memory(space, constant, Layout::Natural)
}

fn memory(space: Space, constant: u64, layout: Layout) -> Place {
    let matrix = MatrixLayout::default();
    let others = Rc::new([]);
    Place::Memory(MemoryPlace {
        space,
        others,
        dynamic: None,
        constant,
        layout,
        matrix,
        component_stride: None,
    })
}
