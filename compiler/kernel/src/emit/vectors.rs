//! Vectors, arrays and structs as values: construction, extraction, dot products.

use rspirv::spirv::{Op, Word};

use super::function::FunctionEmitter;
use super::module::Operand;
use super::values::is_float;
use crate::ir::NodeId;
use crate::types::Type;

impl FunctionEmitter<'_> {
    /// From all of its parts; a constant where all of them are.
    pub fn construct(&mut self, parts: &[Word], ty: &Type) -> Word {
        let result = self.module.ty(ty);
        if parts.is_empty() {
            return self.module.null(result);
        }
        if parts.iter().all(|part| self.module.is_constant(*part)) {
            return self.module.composite(result, parts);
        }
        self.ids(Op::CompositeConstruct, ty, parts)
    }

    pub fn extract(&mut self, composite: Word, at: u32, ty: &Type) -> Word {
        let result = self.module.ty(ty);
        let operands = [Operand::IdRef(composite), Operand::LiteralBit32(at)];
        self.op(Op::CompositeExtract, result, &operands)
    }

    /// Out of range reads 0.
    pub fn extract_at(&mut self, whole: NodeId, index: NodeId, ty: &Type) -> Word {
        let Type::Vector(n, _) = *self.function.ty(whole) else {
            return self.extract_element(whole, index, ty);
        };
        let vector = self.value(whole);
        if self.function.is_known_inside(index, n.into()) {
            let index = self.value(index);
            return self.ids(Op::VectorExtractDynamic, ty, &[vector, index]);
        }
        let (is_inside, index) = self.inside_or_zero(index, u32::from(n));
        let found = self.ids(Op::VectorExtractDynamic, ty, &[vector, index]);
        let result = self.module.ty(ty);
        let zero = self.module.null(result);
        self.select(ty, is_inside, found, zero)
    }

    pub fn insert(&mut self, whole: Word, value: Word, part: u32, ty: &Type) -> Word {
        let result = self.module.ty(ty);
        let operands = [Operand::IdRef(value), Operand::IdRef(whole), Operand::LiteralBit32(part)];
        self.op(Op::CompositeInsert, result, &operands)
    }

    /// Out of range leaves the vector as it is.
    pub fn insert_at(&mut self, whole: NodeId, value: NodeId, index: NodeId, ty: &Type) -> Word {
        if !ty.is_vector() {
            return self.insert_element(whole, value, index, ty);
        }
        let (vector, value) = (self.value(whole), self.value(value));
        let n = u32::from(ty.n_components());
        if self.function.is_known_inside(index, n) {
            let index = self.value(index);
            return self.ids(Op::VectorInsertDynamic, ty, &[vector, value, index]);
        }
        let (is_inside, index) = self.inside_or_zero(index, n);
        let inserted = self.ids(Op::VectorInsertDynamic, ty, &[vector, value, index]);
        self.select(ty, is_inside, inserted, vector)
    }

    pub fn dot(&mut self, [a, b]: [NodeId; 2], ty: &Type) -> Word {
        let n = self.function.ty(a).n_components();
        let (a, b) = (self.value(a), self.value(b));
        if is_float(ty) {
            return self.ids(Op::Dot, ty, &[a, b]);
        }
        let mut sum = None;
        for at in 0..u32::from(n) {
            let (left, right) = (self.extract(a, at, ty), self.extract(b, at, ty));
            let product = self.ids(Op::IMul, ty, &[left, right]);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.ids(Op::IAdd, ty, &[sum, product]),
            });
        }
        sum.expect("vectors have at least two components")
    }
}
