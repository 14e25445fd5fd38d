//! Loads and stores.

use kps_scalar::Scalar;
use rspirv::spirv::StorageClass;

use super::pointers::{MAX_FRAME, MemoryPlace, Place, Pointer};
use super::{Data, Lowerer, Operand};
use crate::cpu::errors;
use crate::cpu::lane::{self, Address, Binary, Local, Ty};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{ADDRESS, Layout, Type, TypeId};
use crate::{Access, Result};

/// `n` adjacent scalars in memory that are read or written at once.
pub(super) struct Leaf {
    pub offset: u64,
    pub scalar: Scalar,
    pub n: u32,
}

/// The components of a vector: one leaf if they are adjacent, else one each.
fn push_vector(leaves: &mut Vec<Leaf>, offset: u64, scalar: Scalar, n: u32, stride: u32) {
    if stride == scalar.bytes() {
        leaves.push(Leaf { offset, scalar, n });
        return;
    }
    for i in 0..n {
        leaves.push(Leaf { offset: offset + u64::from(i) * u64::from(stride), scalar, n: 1 });
    }
}

impl Lowerer<'_> {
    pub(super) fn variable(&mut self, inst: &Instruction) -> Result<()> {
        let Type::Pointer { class: StorageClass::Function, pointee, .. } =
            *self.module.types.get(self.result_type(inst)?)
        else {
            return Err(self.malformed(inst, "a variable in a function has the class `Function`"));
        };
        if !self.module.types.is_data(pointee) {
            return Err(self.malformed(inst, "no variable has this type"));
        }
        let id = self.id(inst, 1)?;
        let Some(place) = self.own_variable(id, pointee) else {
            return Err(errors::too_many_variables(MAX_FRAME, self.module.line(inst.line)));
        };
        let pointer = Pointer { class: StorageClass::Function, pointee, stride: None, place };
        if self.module.operands(inst).len() > 3 {
            let value = self.data(inst, 3)?;
            self.check_pointee(inst, &pointer, value.ty)?;
            self.write(&pointer, &value);
        }
        self.define(inst, Operand::Pointer(pointer))
    }

    pub(super) fn load(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst, 2)?;
        if let Place::Opaque(opaque) = pointer.place {
            return self.define(inst, Operand::Opaque(opaque));
        }
        let data = self.read(inst, &pointer)?;
        self.define(inst, Operand::Data(data))
    }

    pub(super) fn store(&mut self, inst: &Instruction) -> Result<()> {
        let (pointer, value) = (self.pointer(inst, 0)?, self.data(inst, 1)?);
        self.check_store(inst, &pointer, value.ty)?;
        self.write(&pointer, &value);
        Ok(())
    }

    pub(super) fn copy_memory(&mut self, inst: &Instruction) -> Result<()> {
        let (to, from) = (self.pointer(inst, 0)?, self.pointer(inst, 1)?);
        let value = self.read(inst, &from)?;
        self.check_store(inst, &to, value.ty)?;
        self.write(&to, &value);
        Ok(())
    }

    pub(super) fn check_store(&self, inst: &Instruction, pointer: &Pointer, ty: TypeId) -> Result<()> {
        self.check_pointee(inst, pointer, ty)?;
        match pointer.class {
            StorageClass::PushConstant | StorageClass::Input => {
                Err(self.malformed(inst, &format!("`{:?}` memory cannot be written", pointer.class)))
            }
            _ => Ok(()),
        }
    }

    fn check_pointee(&self, inst: &Instruction, pointer: &Pointer, ty: TypeId) -> Result<()> {
        match self.module.types.same(pointer.pointee, ty) {
            true => self.check_layout(inst, pointer),
            false => Err(self.malformed(inst, "the value has another type than its place")),
        }
    }

    /// Checks that every part of the pointee has an offset, and that the value is small enough.
    fn check_layout(&self, inst: &Instruction, pointer: &Pointer) -> Result<()> {
        self.value_scalars(inst, pointer.pointee)?;
        match &pointer.place {
            Place::Memory(place) if self.leaves(pointer.pointee, place).is_none() => {
                Err(self
                    .malformed(inst, "a part of its place lacks `Offset`, `ArrayStride` or `MatrixStride`"))
            }
            Place::Opaque(_) | Place::Texel(_) => {
                Err(self.malformed(inst, "images have instructions of their own"))
            }
            _ => Ok(()),
        }
    }

    fn read(&mut self, inst: &Instruction, pointer: &Pointer) -> Result<Data> {
        self.check_layout(inst, pointer)?;
        let ty = pointer.pointee;
        let parts = match &pointer.place {
            Place::Registers(first) => {
                let n = self.module.types.n_scalars(ty);
                (first.0..first.0 + n).map(|local| self.builder.get(Local(local))).collect()
            }
            Place::Values(values) => values.clone(),
            Place::Opaque(_) | Place::Texel(_) => unreachable!("the layout was checked"),
            Place::Memory(place) => {
                let mut parts = Vec::new();
                for leaf in self.leaves(ty, place).expect("the layout was checked") {
                    let address = self.leaf_address(place, &leaf, Access::Read);
                    let offsets = (0..leaf.n).map(|i| i * leaf.scalar.bytes());
                    parts.extend(offsets.map(|offset| self.load_scalar(leaf.scalar, address, offset)));
                }
                parts.into()
            }
        };
        if matches!(self.module.types.get(ty), Type::Struct(_)) {
            self.note_struct(&parts);
        }
        Ok(Data { ty, parts })
    }

    /// Records the members of a struct that one line loads, for copies of the whole struct.
    pub(super) fn note_struct(&mut self, parts: &[lane::Value]) {
        let Some(line) = self.builder.line else { return };
        if parts.iter().any(|part| self.loaded.get(part) != Some(&line)) {
            return;
        }
        let bits = |part: &lane::Value| {
            let narrow = [Scalar::F16, Scalar::Bf16].map(|scalar| (scalar, *part));
            narrow.iter().find_map(|known| self.narrow_bits.get(known)).copied().unwrap_or(*part)
        };
        let parts = parts.iter().map(bits).collect();
        self.builder.kernel.structs.push(parts);
    }

    /// The type and the layout were checked before.
    pub(super) fn write(&mut self, pointer: &Pointer, value: &Data) {
        match &pointer.place {
            Place::Registers(first) => {
                for (i, &part) in value.parts.iter().enumerate() {
                    self.builder.set(Local(first.0 + i as u32), part);
                }
            }
            Place::Values(_) | Place::Opaque(_) | Place::Texel(_) => {
                unreachable!("inputs and images are not written")
            }
            Place::Memory(place) => {
                let mut parts = value.parts.iter();
                for leaf in self.leaves(pointer.pointee, place).expect("the layout was checked") {
                    let address = self.leaf_address(place, &leaf, Access::Write);
                    for (i, &part) in (0..leaf.n).zip(&mut parts) {
                        self.store_scalar(leaf.scalar, address, i * leaf.scalar.bytes(), part);
                    }
                }
            }
        }
    }

    pub(super) fn leaf_address(&mut self, place: &MemoryPlace, leaf: &Leaf, access: Access) -> lane::Value {
        let in_space = |space| Address {
            space,
            dynamic: place.dynamic,
            constant: place.constant.saturating_add(leaf.offset),
            size: leaf.n * leaf.scalar.bytes(),
            access,
        };
        let mut address = self.builder.address(in_space(place.space));
        for &(chosen, space) in place.others.iter() {
            let other = self.builder.address(in_space(space));
            address = self.builder.select(chosen, other, address);
        }
        address
    }

    /// `None` if a decoration is missing.
    fn leaves(&self, ty: TypeId, place: &MemoryPlace) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.push_leaves(ty, place, 0, &mut leaves)?;
        Some(leaves)
    }

    fn push_leaves(
        &self,
        ty: TypeId,
        place: &MemoryPlace,
        offset: u64,
        leaves: &mut Vec<Leaf>,
    ) -> Option<()> {
        let types = &self.module.types;
        match types.get(ty) {
            Type::Scalar(scalar) => leaves.push(Leaf { offset, scalar: *scalar, n: 1 }),
            Type::Pointer { class: StorageClass::PhysicalStorageBuffer, .. } => {
                leaves.push(Leaf { offset, scalar: ADDRESS, n: 1 });
            }
            Type::Vector { n, scalar } => {
                let stride = place.component_stride.unwrap_or(scalar.bytes());
                push_vector(leaves, offset, *scalar, *n, stride);
            }
            // The lane's components in order.
            Type::Cooperative { n, scalar, .. } => leaves.extend((0..*n).map(|i| {
                let offset = offset + u64::from(i * scalar.bytes());
                Leaf { offset, scalar: *scalar, n: 1 }
            })),
            Type::Matrix { columns, column } => {
                let (scalar, n) = types.as_scalars(*column)?;
                let natural = place.layout == Layout::Natural;
                let stride = if natural { n * scalar.bytes() } else { place.matrix.stride? };
                let (between, within) = match place.matrix.row_major && !natural {
                    true => (scalar.bytes(), stride),
                    false => (stride, scalar.bytes()),
                };
                for column in 0..*columns {
                    let offset = offset + u64::from(column) * u64::from(between);
                    push_vector(leaves, offset, scalar, n, within);
                }
            }
            Type::Array { element, len, stride } => {
                let stride = types.stride(*element, *stride, place.layout)?;
                for i in 0..u64::from(*len) {
                    self.push_leaves(*element, place, offset.saturating_add(i * stride), leaves)?;
                }
            }
            Type::Struct(members) => {
                for (i, member) in members.iter().enumerate() {
                    let place = MemoryPlace { matrix: member.matrix, ..place.clone() };
                    let offset = offset.saturating_add(types.member_offset(members, i, place.layout)?);
                    self.push_leaves(member.ty, &place, offset, leaves)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    pub(super) fn array_length(&mut self, inst: &Instruction) -> Result<()> {
        let pointer = self.pointer(inst, 2)?;
        let member = self.word(inst, 3)? as usize;
        let types = &self.module.types;
        let (Type::Struct(members), Place::Memory(place)) = (types.get(pointer.pointee), &pointer.place)
        else {
            return Err(self.malformed(inst, "its operand is no structure in a buffer"));
        };
        let found = members.get(member).and_then(|member| match *types.get(member.ty) {
            Type::RuntimeArray { stride, .. } => Some((member.offset?, stride?)),
            _ => None,
        });
        let buffer = match place.space {
            lane::Space::Buffer(buffer) if place.others.is_empty() => Some(buffer),
            _ => None,
        };
        let (Some((offset, stride)), Some(buffer)) = (found, buffer) else {
            return Err(self.malformed(inst, "the member is no run-time array with a layout"));
        };
        let size = self.builder.buffer_size(buffer);
        let start = self.builder.int(Ty::I64, i64::from(offset));
        let stride = self.builder.int(Ty::I64, i64::from(stride));
        let zero = self.builder.int(Ty::I64, 0);
        let rest = self.builder.binary(Binary::Sub, size, start);
        let is_open = self.builder.compare(lane::Compare::GtU, size, start);
        let rest = self.builder.select(is_open, rest, zero);
        let len = self.builder.binary(Binary::DivU, rest, stride);
        let len = self.builder.convert(lane::Convert::Truncate, len);
        let (ty, scalar, n) = self.result_scalars(inst)?;
        if (lane_ty(scalar), n) != (Ty::I32, 1) {
            return Err(self.malformed(inst, "the result is no 32-bit int"));
        }
        self.define(inst, Operand::Data(Data { ty, parts: [len].into() }))
    }
}
