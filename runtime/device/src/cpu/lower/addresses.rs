//! Pointers that are known only at run time.
//!
//! Addresses of buffers are 64-bit ints, which are checked against the device's buffers at each use. Pointers
//! that a select, a phi or a function's returns choose between are offsets. If they point into different
//! buffers, conditions beside the offset say which one. [`super::provenance`] finds the buffers.

use std::rc::Rc;

use kps_scalar::Scalar;
use rspirv::spirv::{Op, StorageClass};

use super::pointers::{MemoryPlace, Place, Pointer, explicit, natural};
use super::{Data, Lowerer, Operand};
use crate::Result;
use crate::cpu::lane::{self, Binary, BlockId, Compare, Space, Ty, Unary};
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{ADDRESS, Layout, MatrixLayout, Type, TypeId};
use crate::cpu::module::{Id, Instruction};

impl Lowerer<'_> {
    /// The pointer for an address.
    pub(super) fn pointer_at(&mut self, data: Data) -> Pointer {
        let Type::Pointer { class, pointee, stride } = *self.module.types.get(data.ty) else {
            unreachable!("the type was seen to be that of an address")
        };
        self.builder.kernel.uses_addresses = true;
        let Place::Memory(place) = explicit(Space::Device) else { unreachable!("spaces are memory") };
        let place = Place::Memory(MemoryPlace { dynamic: Some(data.parts[0]), ..place });
        Pointer { class, pointee, stride, place }
    }

    /// The address of a pointer into a buffer. Its type is one of the address types for the pointee.
    pub(super) fn address_of(&mut self, inst: &Instruction, pointer: Pointer) -> Result<Data> {
        let (StorageClass::PhysicalStorageBuffer, Place::Memory(place)) = (pointer.class, &pointer.place)
        else {
            return Err(self.unsupported(inst, "a pointer is used as a value"));
        };
        let ty = self.module.types.address_of(pointer.pointee);
        let ty = ty.ok_or_else(|| self.malformed(inst, "there is no type of pointers there"))?;
        let parts = [self.offset(place)].into();
        Ok(Data { ty, parts })
    }

    /// The whole offset of a place as one value.
    fn offset(&mut self, place: &MemoryPlace) -> lane::Value {
        let constant = self.builder.int(Ty::I64, place.constant as i64);
        match place.dynamic {
            Some(dynamic) => self.builder.binary(Binary::Add, dynamic, constant),
            None => constant,
        }
    }

    pub(super) fn address_and_int(&mut self, inst: &Instruction) -> Result<()> {
        let (ty, data) = (self.result_type(inst)?, self.data(inst, 2)?);
        let types = &self.module.types;
        let is_int = |ty: TypeId| types.as_scalars(ty).is_some_and(|(scalar, n)| scalar.is_int() && n == 1);
        let fits = match inst.op {
            Op::ConvertUToPtr => types.is_address(ty) && is_int(data.ty),
            _ => types.is_address(data.ty) && is_int(ty),
        };
        if !fits {
            return Err(self.wrong_operands(inst));
        }
        let to = types.as_scalars(ty).map_or(ADDRESS, |(scalar, _)| scalar);
        let value = self.resize(data.parts[0], lane_ty(to));
        let parts = [self.fit(to, value)].into();
        self.define(inst, Operand::Data(Data { ty, parts }))
    }

    /// The first index of a `PtrAccessChain`: over elements of the array into which the pointer points.
    pub(super) fn step_by_element(&mut self, inst: &Instruction, pointer: Pointer) -> Result<Pointer> {
        let (scalar, index) = self.int(inst, 3)?;
        let stride = match &pointer.place {
            Place::Memory(place) => self.element_stride(&pointer, place.layout),
            _ => None,
        };
        let (Some(stride), Place::Memory(mut place)) = (stride, pointer.place.clone()) else {
            // A pointer to a single object has one element.
            return match self.builder.as_const(index) {
                Some(0) => Ok(pointer),
                _ => Err(self.malformed(inst, "the pointer's type has no `ArrayStride`")),
            };
        };
        self.step_by(&mut place, stride, scalar, index, None);
        Ok(Pointer { place: Place::Memory(place), ..pointer })
    }

    /// The stride of the array into which a pointer points.
    fn element_stride(&self, pointer: &Pointer, layout: Layout) -> Option<u64> {
        match layout {
            Layout::Explicit => pointer.stride.map(u64::from),
            Layout::Natural => self.module.types.size(pointer.pointee, layout, MatrixLayout::default()),
        }
    }

    pub(super) fn chooses_pointers(&self, inst: &Instruction) -> bool {
        let ty = self.module.operands(inst).first().and_then(|&id| self.module.types.by_id(Id(id)));
        let is_pointer = |ty| matches!(self.module.types.get(ty), Type::Pointer { .. });
        ty.is_some_and(|ty| is_pointer(ty) && !self.module.types.is_address(ty))
    }

    pub(super) fn select_pointer(&mut self, inst: &Instruction) -> Result<()> {
        let condition = self.condition(inst, 2)?;
        let (a, b) = (self.pointer(inst, 3)?, self.pointer(inst, 4)?);
        let (Place::Memory(place_a), Place::Memory(place_b)) = (&a.place, &b.place) else {
            return Err(
                self.unsupported(inst, "only pointers into buffers and shared memory can be selected")
            );
        };
        if !a.has_type(&self.module.types, self.result_type(inst)?) || !alike(place_a, place_b) {
            return Err(self.wrong_operands(inst));
        }
        let (offset_a, offset_b) = (self.offset(place_a), self.offset(place_b));
        let dynamic = Some(self.builder.select(condition, offset_a, offset_b));
        let mut others = place_b.others.to_vec();
        if place_a.space != place_b.space || !place_a.others.is_empty() || !others.is_empty() {
            others.push((condition, place_a.space));
            for &(chosen, space) in place_a.others.iter() {
                others.push((self.builder.binary(Binary::And, condition, chosen), space));
            }
        }
        let place = MemoryPlace { dynamic, constant: 0, others: others.into(), ..place_b.clone() };
        self.define(inst, Operand::Pointer(Pointer { place: Place::Memory(place), ..b }))
    }

    /// Block parameters for a selected pointer: an offset, and the conditions of its spaces if there are
    /// several.
    pub(super) fn pointer_params(
        &mut self,
        at: &Instruction,
        ty: TypeId,
        spaces: &[Space],
        block: BlockId,
    ) -> Result<Pointer> {
        let Type::Pointer { class, pointee, stride } = *self.module.types.get(ty) else {
            unreachable!("the type was seen to be that of pointers")
        };
        let Some((&first, rest)) = spaces.split_first() else {
            return Err(self.unsupported(at, "it is unknown what the pointers point into"));
        };
        let dynamic = Some(self.builder.add_param(block, Ty::I64));
        let mut others = Vec::new();
        for &space in rest {
            others.push((self.builder.add_param(block, Ty::Bool), space));
        }
        let place = if class == StorageClass::Workgroup { natural(first, 0) } else { explicit(first) };
        let Place::Memory(place) = place else { unreachable!("spaces are memory") };
        let place = Place::Memory(MemoryPlace { dynamic, others: others.into(), ..place });
        Ok(Pointer { class, pointee, stride, place })
    }

    /// The arguments of these parameters for an incoming pointer.
    pub(super) fn pointer_args(
        &mut self,
        at: &Instruction,
        chosen: &Pointer,
        pointer: &Pointer,
    ) -> Result<Vec<lane::Value>> {
        let (Place::Memory(to), Place::Memory(from)) = (&chosen.place, &pointer.place) else {
            return Err(self.unsupported(at, "only pointers into buffers and shared memory can be selected"));
        };
        let same_type =
            self.module.types.same(chosen.pointee, pointer.pointee) && chosen.class == pointer.class;
        if !same_type || !alike(to, from) {
            return Err(self.unsupported(at, "a pointer has another type, or another layout"));
        }
        let mut args = vec![self.offset(from)];
        for &(_, space) in to.others.iter() {
            args.push(self.is_in(from, space));
        }
        Ok(args)
    }

    /// Whether a place is in a space, which its last true condition decides.
    fn is_in(&mut self, place: &MemoryPlace, space: Space) -> lane::Value {
        let mut inside = self.builder.constant(Ty::Bool, u64::from(place.space == space));
        for &(chosen, other) in place.others.iter() {
            let here = self.builder.constant(Ty::Bool, u64::from(other == space));
            inside = self.builder.select(chosen, here, inside);
        }
        inside
    }

    pub(super) fn compare_pointers(&mut self, inst: &Instruction) -> Result<()> {
        let (a, b) = (self.pointer(inst, 2)?, self.pointer(inst, 3)?);
        let (Place::Memory(place_a), Place::Memory(place_b)) = (&a.place, &b.place) else {
            return Err(self.unsupported(inst, "pointers into buffers and shared memory are compared"));
        };
        if place_a.space != place_b.space || !place_a.others.is_empty() || !place_b.others.is_empty() {
            return Err(self.unsupported(inst, "pointers into one buffer are compared"));
        }
        let (offset_a, offset_b) = (self.offset(place_a), self.offset(place_b));
        let (ty, scalar, n) = self.result_scalars(inst)?;
        let fits = if inst.op == Op::PtrDiff { scalar.is_int() } else { scalar == Scalar::Bool };
        if !fits || n != 1 {
            return Err(self.malformed(inst, "the result has another type"));
        }
        let part = match inst.op {
            Op::PtrDiff => {
                let bytes = self.builder.binary(Binary::Sub, offset_a, offset_b);
                let stride = self.element_stride(&a, place_a.layout);
                let stride = stride.ok_or_else(|| self.malformed(inst, "the type has no `ArrayStride`"))?;
                let stride = self.builder.int(Ty::I64, stride as i64);
                let n = self.builder.binary(Binary::DivS, bytes, stride);
                let n = self.resize(n, lane_ty(scalar));
                self.fit(scalar, n)
            }
            op => {
                let same = self.builder.compare(Compare::Eq, offset_a, offset_b);
                if op == Op::PtrEqual { same } else { self.builder.unary(Unary::Not, same) }
            }
        };
        let parts: Rc<[lane::Value]> = [part].into();
        self.define(inst, Operand::Data(Data { ty, parts }))
    }
}

/// Whether two places differ only in space and offset.
fn alike(a: &MemoryPlace, b: &MemoryPlace) -> bool {
    let plain = |place: &MemoryPlace| place.component_stride.is_none() && place.matrix.stride.is_none();
    a.layout == b.layout && plain(a) && plain(b)
}
