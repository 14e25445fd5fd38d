//! Elements of local arrays and of buffers. Out of range, loads read 0 and stores are dropped.
//!
//! A load tests its index, reads element 0 where it is outside, and chooses 0 over what it read; a
//! store branches. Buffers leave the test to a device that does it (`Target::robust_access`).

use rspirv::spirv::{Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use crate::ir::{BufferId, LocalId, NodeId, NodeKind};
use crate::types::{Scalar, Type};

impl FunctionEmitter<'_> {
    // Local arrays.

    pub fn load_element(&mut self, local: LocalId, path: &[NodeId], ty: &Type) -> Word {
        let (place, is_inside) = self.element_place(local, path);
        let value = self.ids(Op::Load, ty, &[place]);
        match is_inside {
            None => value,
            Some(is_inside) => {
                let result = self.module.ty(ty);
                let zero = self.module.null(result);
                self.select(ty, is_inside, value, zero)
            }
        }
    }

    pub fn store_element(&mut self, local: LocalId, path: &[NodeId], value: NodeId) {
        let (place, is_inside) = self.element_place(local, path);
        let value = self.value(value);
        let operands = vec![Operand::IdRef(place), Operand::IdRef(value)];
        match is_inside {
            None => self.effect(Op::Store, operands),
            Some(is_inside) => self.when(is_inside, |emitter| emitter.effect(Op::Store, operands)),
        }
    }

    /// A pointer to an element that exists, and whether it is the one meant, where that is not known.
    fn element_place(&mut self, local: LocalId, path: &[NodeId]) -> (Word, Option<Word>) {
        let mut ty = self.function.local(local).ty.clone();
        let mut indices = vec![self.local(local)];
        let mut all_inside: Option<Word> = None;
        for index in path {
            let Type::Array(array) = ty else { break };
            if self.is_known_inside(*index, array.len) {
                indices.push(self.value(*index));
            } else {
                let (is_inside, index) = self.inside_or_zero(*index, array.len);
                all_inside = Some(match all_inside {
                    None => is_inside,
                    Some(others) => self.ids(Op::LogicalAnd, &Type::BOOL, &[others, is_inside]),
                });
                indices.push(index);
            }
            ty = array.element.clone();
        }
        let pointee = self.module.ty(&ty);
        let pointer = self.module.pointer(StorageClass::Function, pointee);
        let operands = indices.into_iter().map(Operand::IdRef).collect();
        (self.op(Op::AccessChain, pointer, operands), all_inside)
    }

    fn is_known_inside(&self, index: NodeId, len: u32) -> bool {
        match self.function.node(index).kind {
            NodeKind::Constant(constant) => {
                constant.as_int().is_some_and(|index| (0..i128::from(len)).contains(&index))
            }
            _ => false,
        }
    }

    /// Whether an index is below `len`, and the index, or 0 where it is not.
    pub fn inside_or_zero(&mut self, index: NodeId, len: u32) -> (Word, Word) {
        let ty = self.function.ty(index).clone();
        let len = self.int(&ty, i128::from(len));
        let index = self.value(index);
        // As unsigned numbers, so that negative ones are outside too.
        let is_inside = self.ids(Op::ULessThan, &Type::BOOL, &[index, len]);
        let zero = self.int(&ty, 0);
        (is_inside, self.select(&ty, is_inside, index, zero))
    }

    // Buffers.

    /// The number of elements, as u32.
    pub fn buffer_len(&mut self, buffer: BufferId) -> Word {
        let variable = self.interface.buffer(buffer);
        let (id, is_flat) = (variable.id, variable.is_flat);
        let result = self.module.scalar(Scalar::U32);
        let operands = vec![Operand::IdRef(id), Operand::LiteralBit32(0)];
        let len = self.op(Op::ArrayLength, result, operands);
        if !is_flat {
            return len;
        }
        let three = self.int(&Type::U32, 3);
        self.ids(Op::UDiv, &Type::U32, &[len, three])
    }

    pub fn load_buffer(&mut self, buffer: BufferId, index: NodeId, ty: &Type) -> Word {
        self.interface.buffer(buffer).reads = true;
        let index_ty = self.function.ty(index).clone();
        let (is_inside, index) = match self.target.robust_access {
            true => (None, self.value(index)),
            false => {
                let (is_inside, index) = self.inside_buffer(buffer, index);
                (Some(is_inside), index)
            }
        };
        let value = self.load_inside(buffer, (index, &index_ty), ty);
        match is_inside {
            None => value,
            Some(is_inside) => {
                let result = self.module.ty(ty);
                let zero = self.module.null(result);
                self.select(ty, is_inside, value, zero)
            }
        }
    }

    pub fn store_buffer(&mut self, buffer: BufferId, index: NodeId, value: NodeId) {
        self.interface.buffer(buffer).writes = true;
        let value = self.value(value);
        let index_ty = self.function.ty(index).clone();
        if self.target.robust_access {
            let index = self.value(index);
            return self.store_inside(buffer, (index, &index_ty), value);
        }
        let (is_inside, index) = self.inside_buffer(buffer, index);
        self.when(is_inside, |emitter| emitter.store_inside(buffer, (index, &index_ty), value));
    }

    /// Whether an index is inside the buffer, and the index, or 0 where it is not.
    fn inside_buffer(&mut self, buffer: BufferId, index: NodeId) -> (Word, Word) {
        let ty = self.function.ty(index).clone();
        let index = self.value(index);
        let mut len = self.buffer_len(buffer);
        if ty.scalar().map(Scalar::bits) == Some(64) {
            len = self.ids(Op::UConvert, &Type::from(Scalar::U64), &[len]);
        }
        let is_inside = self.ids(Op::ULessThan, &Type::BOOL, &[index, len]);
        let zero = self.int(&ty, 0);
        (is_inside, self.select(&ty, is_inside, index, zero))
    }

    fn load_inside(&mut self, buffer: BufferId, index: (Word, &Type), ty: &Type) -> Word {
        if !self.interface.buffer(buffer).is_flat {
            let place = self.buffer_place(buffer, index.0, ty);
            return self.load_stored(place, ty);
        }
        let scalar = Type::from(ty.scalar().unwrap_or(Scalar::F32));
        let mut parts = Vec::new();
        let first = self.flat_index(index);
        for at in 0..ty.n_components() {
            let place = self.component_place(buffer, (first, index.1), at, &scalar);
            parts.push(self.load_stored(place, &scalar));
        }
        self.construct(&parts, ty)
    }

    fn store_inside(&mut self, buffer: BufferId, index: (Word, &Type), value: Word) {
        let variable = self.interface.buffer(buffer);
        let (is_flat, ty) = (variable.is_flat, variable.element.clone());
        if !is_flat {
            let place = self.buffer_place(buffer, index.0, &ty);
            return self.store_stored(place, value, &ty);
        }
        let scalar = Type::from(ty.scalar().unwrap_or(Scalar::F32));
        let first = self.flat_index(index);
        for at in 0..ty.n_components() {
            let part = self.extract(value, u32::from(at), &scalar);
            let place = self.component_place(buffer, (first, index.1), at, &scalar);
            self.store_stored(place, part, &scalar);
        }
    }

    fn buffer_place(&mut self, buffer: BufferId, index: Word, element: &Type) -> Word {
        let id = self.interface.buffer(buffer).id;
        let pointee = self.module.stored(element);
        let pointer = self.module.pointer(StorageClass::StorageBuffer, pointee);
        let member = self.int(&Type::I32, 0);
        let operands = [id, member, index].map(Operand::IdRef).to_vec();
        self.op(Op::AccessChain, pointer, operands)
    }

    /// Where a vector of three that lies flat begins.
    fn flat_index(&mut self, (index, ty): (Word, &Type)) -> Word {
        let three = self.int(ty, 3);
        self.ids(Op::IMul, ty, &[index, three])
    }

    /// One number of it.
    fn component_place(&mut self, buffer: BufferId, first: (Word, &Type), at: u8, scalar: &Type) -> Word {
        let (first, ty) = first;
        let place = match at {
            0 => first,
            at => {
                let at = self.int(ty, i128::from(at));
                self.ids(Op::IAdd, ty, &[first, at])
            }
        };
        self.buffer_place(buffer, place, scalar)
    }
}
