//! Parts of locals and of buffers. Out of range, loads read 0 and stores are dropped.
//!
//! A load tests its indices, reads element 0 if one is outside, and then selects 0; a store branches. A device with
//! `Target::robust_access` tests elements of buffers itself, except for loads that the module checks (`BoundsCheck`).
//!
//! A local is loaded and stored as a whole. A buffer has its own types (`layout.rs`), so its values are moved part by
//! part: numbers, and vectors where the layouts agree.

use rspirv::spirv::{GlslStd450Op as GlslOp, Op, StorageClass, Word};

use super::function::FunctionEmitter;
use super::layout::Packing;
use super::module::{INSIDE, Operand};
use super::variables::bits_of;
use crate::ir::{BoundsCheck, BufferId, ElementIndex, LocalId, NodeId, NodeKind, Proof, Step};
use crate::types::Type;

/// More elements than this are moved by a loop.
const MAX_UNROLLED: u32 = 16;

/// The place of a part of a buffer's element.
#[derive(Clone)]
pub(super) struct Place {
    class: StorageClass,
    /// The pointer to the block, its member, and on to the part.
    chain: Vec<Word>,
    /// For a matrix, which is stored as rows: the index of the column in each row.
    column: Option<Word>,
    pub ty: Type,
    packing: Packing,
}

impl Place {
    fn part(&self, index: Word, ty: Type) -> Place {
        let mut chain = self.chain.clone();
        chain.push(index);
        chain.extend(self.column);
        Place { class: self.class, chain, column: None, ty, packing: self.packing.of_part() }
    }
}

impl FunctionEmitter<'_> {
    // Locals.

    pub fn load_element(&mut self, local: LocalId, path: &[Step], ty: &Type) -> Word {
        if let (Type::Coop(coop), [Step::At(index)]) = (&self.function.local(local).ty, path) {
            return self.load_component(local, *index, coop);
        }
        let (place, is_inside) = self.local_part(local, path);
        let value = self.load_local(local, place, ty);
        self.or_zero(value, is_inside, ty)
    }

    pub fn store_element(&mut self, local: LocalId, path: &[Step], value: NodeId) {
        if let (Type::Coop(coop), [Step::At(index)]) = (&self.function.local(local).ty, path) {
            let value = self.value(value);
            return self.store_component(local, *index, value, coop);
        }
        let (place, is_inside) = self.local_part(local, path);
        let ty = self.function.ty(value);
        let value = self.value(value);
        self.when_inside(is_inside, |emitter| emitter.store_local(local, place, value, ty));
    }

    /// A pointer to a part that exists, and whether it is the one meant, where that is not known.
    pub fn local_part(&mut self, local: LocalId, path: &[Step]) -> (Word, Option<Word>) {
        let mut chain = vec![self.local(local)];
        let ty = self.function.local(local).ty.clone();
        let class = self.storage_class(local);
        let (ty, is_inside) = self.walk(ty, path, &mut chain, class);
        let pointee = if self.holds_bits(local) { bits_of(&ty) } else { ty };
        let pointee = self.module.ty(&pointee);
        (self.pointer_to(class, pointee, &chain), is_inside)
    }

    /// Adds the indices of a path; returns its type, and whether all indices are inside.
    fn walk(
        &mut self,
        mut ty: Type,
        path: &[Step],
        chain: &mut Vec<Word>,
        class: StorageClass,
    ) -> (Type, Option<Word>) {
        // A device that checks tests buffers itself; the module tests other memory.
        let is_tested =
            self.is_checked() && matches!(class, StorageClass::Function | StorageClass::Workgroup);
        let mut all_inside: Option<Word> = None;
        for &step in path {
            let len = ty.n_parts().unwrap_or(0);
            match step {
                Step::Part(at) => chain.push(self.int(&Type::I32, i128::from(at))),
                Step::At(index) if self.function.is_known_inside(index, len) || is_tested => {
                    chain.push(self.value(index));
                }
                Step::At(index) => {
                    let (is_inside, index) = self.inside_or_zero(index, len);
                    all_inside = Some(match all_inside {
                        None => is_inside,
                        Some(others) => self.ids(Op::LogicalAnd, &Type::BOOL, &[others, is_inside]),
                    });
                    chain.push(index);
                }
            }
            ty = ty.part(step.part()).expect("verified: a path leads from part to part");
        }
        (ty, all_inside)
    }

    pub fn pointer_to(&mut self, class: StorageClass, pointee: Word, chain: &[Word]) -> Word {
        let pointer = self.module.pointer(class, pointee);
        self.over(Op::AccessChain, pointer, chain)
    }

    /// Whether an index is below `len`. They are compared as unsigned numbers, so that a negative one is outside.
    pub fn is_below(&mut self, index: NodeId, len: u32) -> Word {
        let ty = self.function.ty(index).clone();
        let len = self.int(&ty, i128::from(len));
        let index = self.value(index);
        self.ids(Op::ULessThan, &Type::BOOL, &[index, len])
    }

    /// Whether an index is below `len`, and the index, or 0 where it is not.
    pub fn inside_or_zero(&mut self, index: NodeId, len: u32) -> (Word, Word) {
        let is_inside = self.is_below(index, len);
        self.module.name(is_inside, INSIDE);
        let (ty, index) = (self.function.ty(index).clone(), self.value(index));
        let zero = self.int(&ty, 0);
        (is_inside, self.select(&ty, is_inside, index, zero))
    }

    fn or_zero(&mut self, value: Word, is_inside: Option<Word>, ty: &Type) -> Word {
        let Some(is_inside) = is_inside else { return value };
        let result = self.module.ty(ty);
        let zero = self.module.null(result);
        self.select(ty, is_inside, value, zero)
    }

    fn when_inside(&mut self, is_inside: Option<Word>, store: impl FnOnce(&mut Self)) {
        match is_inside {
            None => store(self),
            Some(is_inside) => self.when(is_inside, store),
        }
    }

    // Arrays that are values: only a variable can be indexed at run time.

    /// Out of range reads 0.
    pub fn extract_element(&mut self, array: NodeId, index: NodeId, ty: &Type) -> Word {
        let variable = match self.is_param_part(array) {
            true => self.param_variable(array),
            false => self.spilled(array),
        };
        let (index, is_inside) = self.part_index(array, index);
        let element = self.module.ty(ty);
        let place = self.pointer_to(StorageClass::Function, element, &[variable, index]);
        let value = self.ids(Op::Load, ty, &[place]);
        self.or_zero(value, is_inside, ty)
    }

    /// Out of range leaves the array as it is.
    pub fn insert_element(&mut self, array: NodeId, value: NodeId, index: NodeId, ty: &Type) -> Word {
        let variable = self.spilled(array);
        let element_ty = self.function.ty(value).clone();
        let (index, is_inside) = self.part_index(array, index);
        let value = self.value(value);
        self.when_inside(is_inside, |emitter| {
            let element = emitter.module.ty(&element_ty);
            let place = emitter.pointer_to(StorageClass::Function, element, &[variable, index]);
            emitter.effect(Op::Store, &[Operand::IdRef(place), Operand::IdRef(value)]);
        });
        self.ids(Op::Load, ty, &[variable])
    }

    /// An index of a part that exists, and whether it is the one meant, where that is not known.
    fn part_index(&mut self, whole: NodeId, index: NodeId) -> (Word, Option<Word>) {
        let len = self.n_parts(whole);
        if self.function.is_known_inside(index, len) {
            return (self.value(index), None);
        }
        let (is_inside, index) = self.inside_or_zero(index, len);
        (index, Some(is_inside))
    }

    fn n_parts(&self, node: NodeId) -> u32 {
        self.function.ty(node).n_parts().expect("verified: it is made of parts")
    }

    /// A temporary variable with a value.
    fn spilled(&mut self, node: NodeId) -> Word {
        let ty = self.function.ty(node).clone();
        let value = self.value(node);
        let variable = self.variable(&ty);
        self.effect(Op::Store, &[Operand::IdRef(variable), Operand::IdRef(value)]);
        variable
    }

    // Buffers.

    pub fn load_buffer(
        &mut self,
        buffer: BufferId,
        index: &ElementIndex,
        path: &[Step],
        bounds: BoundsCheck,
    ) -> Word {
        self.interface.buffer(buffer).reads = true;
        let (place, is_inside) = self.buffer_part((buffer, index, path), bounds);
        let ty = place.ty.clone();
        let value = self.load_place(&place);
        self.or_zero(value, is_inside, &ty)
    }

    pub fn store_buffer(&mut self, buffer: BufferId, index: &ElementIndex, path: &[Step], value: NodeId) {
        self.interface.buffer(buffer).writes = true;
        let value = self.value(value);
        let (place, is_inside) = self.buffer_part((buffer, index, path), BoundsCheck::Device);
        self.when_inside(is_inside, |emitter| emitter.store_place(&place, value));
    }

    /// The place of a part that exists, and whether it is the one meant, where that is not known.
    pub fn buffer_part(
        &mut self,
        (buffer, index, path): (BufferId, &ElementIndex, &[Step]),
        bounds: BoundsCheck,
    ) -> (Place, Option<Word>) {
        let proof = match self.function.node(index.number()).kind {
            NodeKind::Proven(proof, _) => Some(proof),
            _ => None,
        };
        let is_proven = proof == Some(Proof::InRange);
        let class = self.interface.buffer(buffer).class();
        // A uniform holds one value, and no array of them.
        // The device tests bytes, and would access a part of an element at the end.
        let ends_within = self.kernel.may_end_within(buffer);
        let can_test = self.target.robust_access && class == StorageClass::StorageBuffer && !ends_within;
        let is_robust = can_test && bounds == BoundsCheck::Device;
        let (element_inside, index) = match class {
            StorageClass::Uniform => (None, None),
            _ if is_proven || self.is_checked() && !ends_within => {
                (None, Some(self.proven_index(buffer, index)))
            }
            _ if is_robust && proof == Some(Proof::Near) => (None, Some(self.value(index.number()))),
            _ if is_robust => (None, Some(self.unwrapped_index(buffer, index))),
            _ => {
                let (is_inside, index) = self.inside_buffer(buffer, index);
                (Some(is_inside), Some(index))
            }
        };
        let element = self.interface.buffer(buffer).element.clone();
        let mut chain = match index {
            Some(index) => self.element_chain(buffer, index),
            None => vec![self.buffer_base(buffer), self.int(&Type::I32, 0)],
        };
        let n_before = chain.len();
        let column_step = step_to_column(&element, path);
        let (ty, path_inside) = self.walk(element, path, &mut chain, class);
        let column = column_step.and_then(|at| by_rows(&mut chain, n_before + at));
        let is_inside = match (element_inside, path_inside) {
            (Some(element), Some(path)) => Some(self.ids(Op::LogicalAnd, &Type::BOOL, &[element, path])),
            (element, path) => element.or(path),
        };
        let whole = match class {
            StorageClass::Uniform => Packing::Vectors,
            _ => Packing::of_element(self.target.scalar_layout),
        };
        let packing = path.iter().fold(whole, |packing, _| packing.of_part());
        (Place { class, chain, column, ty, packing }, is_inside)
    }

    /// An index for a device that tests accesses itself. Some devices compute the byte offset in 32 bits, so the index
    /// is clamped to the last one whose offset does not wrap around.
    fn unwrapped_index(&mut self, buffer: BufferId, index: &ElementIndex) -> Word {
        let value = self.element_number(index);
        let scalar = self.function.ty(index.number()).scalar().expect("verified: an index is an int");
        let n_elements = (1 << 32) / u64::from(self.interface.buffer(buffer).element.packed_size().max(1));
        let last = n_elements - 1;
        if scalar.bits() < 32 || (scalar.bits() == 32 && last == u64::from(u32::MAX)) {
            return value;
        }
        let unsigned = Type::Scalar(scalar.as_unsigned());
        let is_unsigned = scalar == scalar.as_unsigned();
        let value = if is_unsigned { value } else { self.ids(Op::Bitcast, &unsigned, &[value]) };
        let last = self.int(&unsigned, i128::from(last));
        self.glsl(GlslOp::UMin, &unsigned, &[value, last])
    }

    fn load_place(&mut self, place: &Place) -> Word {
        if place.ty.is_matrix() {
            return self.load_matrix(place);
        }
        let Some(n_parts) = self.parts_to_move(place) else {
            let pointer = self.buffer_pointer(place);
            return self.load_stored(pointer, place.class, &place.ty);
        };
        if n_parts > MAX_UNROLLED && matches!(place.ty, Type::Array(_)) {
            return self.load_by_loop(place, n_parts);
        }
        let mut parts = Vec::new();
        for at in 0..n_parts {
            let part = self.place_part(place, at);
            parts.push(self.load_place(&part));
        }
        self.construct(&parts, &place.ty)
    }

    fn store_place(&mut self, place: &Place, value: Word) {
        if place.ty.is_matrix() {
            return self.store_matrix(place, value);
        }
        let Some(n_parts) = self.parts_to_move(place) else {
            let pointer = self.buffer_pointer(place);
            return self.store_stored(pointer, place.class, value, &place.ty);
        };
        if n_parts > MAX_UNROLLED && matches!(place.ty, Type::Array(_)) {
            return self.store_by_loop(place, n_parts, value);
        }
        for at in 0..n_parts {
            let part = self.place_part(place, at);
            let part_value = self.extract(value, at, &part.ty);
            self.store_place(&part, part_value);
        }
    }

    /// A matrix is made of columns, and stored as rows.
    fn load_matrix(&mut self, place: &Place) -> Word {
        let rows: Vec<(Word, Type)> =
            self.rows(place).into_iter().map(|row| (self.load_place(&row), row.ty)).collect();
        let column = place.ty.part(0).expect("a matrix has columns");
        let number = column.part(0).expect("a column has numbers");
        let columns: Vec<Word> = (0..place.ty.n_parts().unwrap_or(0))
            .map(|at| {
                let numbers: Vec<Word> =
                    rows.iter().map(|(row, _)| self.extract(*row, at, &number)).collect();
                self.construct(&numbers, &column)
            })
            .collect();
        self.construct(&columns, &place.ty)
    }

    fn store_matrix(&mut self, place: &Place, value: Word) {
        let column = place.ty.part(0).expect("a matrix has columns");
        let number = column.part(0).expect("a column has numbers");
        let columns: Vec<Word> =
            (0..place.ty.n_parts().unwrap_or(0)).map(|at| self.extract(value, at, &column)).collect();
        for (row, at) in self.rows(place).into_iter().zip(0..) {
            let numbers: Vec<Word> =
                columns.iter().map(|column| self.extract(*column, at, &number)).collect();
            let value = self.construct(&numbers, &row.ty);
            self.store_place(&row, value);
        }
    }

    /// The places of a matrix's rows.
    fn rows(&mut self, place: &Place) -> Vec<Place> {
        let Type::Matrix { columns, rows, scalar } = place.ty else { return Vec::new() };
        let row = Type::Vector(columns, scalar);
        (0..i128::from(rows)).map(|at| place.part(self.int(&Type::I32, at), row.clone())).collect()
    }

    /// `None` for a value that is moved as a whole.
    fn parts_to_move(&self, place: &Place) -> Option<u32> {
        match place.ty {
            Type::Vector(n, _) if place.column.is_none() && place.packing.keeps_vector(n) => None,
            _ => place.ty.n_parts(),
        }
    }

    fn place_part(&mut self, place: &Place, at: u32) -> Place {
        let ty = place.ty.part(at).expect("counted before");
        let index = self.int(&Type::I32, i128::from(at));
        place.part(index, ty)
    }

    pub fn buffer_pointer(&mut self, place: &Place) -> Word {
        let pointee = self.module.laid_type(&place.ty, place.packing);
        self.pointer_to(place.class, pointee, &place.chain)
    }

    fn load_by_loop(&mut self, place: &Place, n_parts: u32) -> Word {
        let element = place.ty.part(0).expect("an array has elements");
        let variable = self.variable(&place.ty);
        self.count(n_parts, |emitter, round| {
            let value = emitter.load_place(&place.part(round, element.clone()));
            let pointee = emitter.module.ty(&element);
            let to = emitter.pointer_to(StorageClass::Function, pointee, &[variable, round]);
            emitter.effect(Op::Store, &[Operand::IdRef(to), Operand::IdRef(value)]);
        });
        self.ids(Op::Load, &place.ty, &[variable])
    }

    fn store_by_loop(&mut self, place: &Place, n_parts: u32, value: Word) {
        let element = place.ty.part(0).expect("an array has elements");
        let variable = self.variable(&place.ty);
        self.effect(Op::Store, &[Operand::IdRef(variable), Operand::IdRef(value)]);
        self.count(n_parts, |emitter, round| {
            let pointee = emitter.module.ty(&element);
            let from = emitter.pointer_to(StorageClass::Function, pointee, &[variable, round]);
            let value = emitter.ids(Op::Load, &element, &[from]);
            emitter.store_place(&place.part(round, element.clone()), value);
        });
    }
}

/// The step of a path that leads to a column of a matrix.
pub(super) fn step_to_column(element: &Type, path: &[Step]) -> Option<usize> {
    let mut ty = element.clone();
    path.iter().position(|step| {
        let part = ty.part(step.part()).expect("verified: a path leads from part to part");
        std::mem::replace(&mut ty, part).is_matrix()
    })
}

/// The indices of a matrix in memory order: the row precedes the column.
fn by_rows(chain: &mut Vec<Word>, column: usize) -> Option<Word> {
    if column + 1 == chain.len() {
        return chain.pop();
    }
    chain.swap(column, column + 1);
    None
}
