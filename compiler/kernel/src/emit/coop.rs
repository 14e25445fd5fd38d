//! Cooperative matrices that the device supports: SPV_KHR_cooperative_matrix.
//!
//! A kernel that uses them needs the Vulkan memory model. There, accesses are private by default: those to shared
//! memory are marked `NonPrivate`, and barriers make stores visible. The model has no `Coherent`.

use rspirv::spirv::{
    CooperativeMatrixLayout, CooperativeMatrixOperands, CooperativeMatrixUse, FPEncoding, Op, Scope, Word,
};

use super::function::FunctionEmitter;
use super::module::{Module, Operand, TypeKey};
use crate::constant::Constant;
use crate::ir::{BinaryOp, CoopLines, CoopMemory, CoopPlace, LocalId, NodeId, NodeKind, Step, Touch};
use crate::matrices::{CoopType, CoopUse};
use crate::signature::Capability;
use crate::types::{Kind, Scalar, Type};

impl Module {
    pub fn coop_matrix(&mut self, coop: &CoopType) -> Word {
        self.need(Capability::CooperativeMatrixKHR);
        self.need(Capability::VulkanMemoryModel);
        let component = self.coop_component(coop.scalar);
        let purpose = match coop.purpose {
            CoopUse::A => CooperativeMatrixUse::MatrixAKHR,
            CoopUse::B => CooperativeMatrixUse::MatrixBKHR,
            CoopUse::Accumulator => CooperativeMatrixUse::MatrixAccumulatorKHR,
        };
        let sizes = [Scope::Subgroup as u32, coop.rows, coop.columns, purpose as u32];
        let sizes = sizes.map(|size| self.constant(Constant::u32(size)));
        self.type_of(TypeKey::Coop(*coop), |module| {
            let operands: Vec<_> = [component].into_iter().chain(sizes).map(Operand::IdRef).collect();
            module.global(Op::TypeCooperativeMatrixKHR, None, &operands)
        })
    }

    /// A matrix holds `bf16`s as they are.
    fn coop_component(&mut self, scalar: Scalar) -> Word {
        if scalar != Scalar::Bf16 {
            return self.scalar(scalar);
        }
        self.need(Capability::BFloat16TypeKHR);
        self.need(Capability::BFloat16CooperativeMatrixKHR);
        self.type_of(TypeKey::BFloat16, |module| {
            let encoding = Operand::FPEncoding(FPEncoding::BFloat16KHR);
            module.global(Op::TypeFloat, None, &[Operand::LiteralBit32(16), encoding])
        })
    }
}

impl FunctionEmitter<'_> {
    pub fn coop_load(&mut self, place: &CoopPlace, ty: &Type) -> Word {
        let mut operands = vec![Operand::IdRef(self.coop_pointer(place, Touch::Read))];
        operands.extend(self.coop_lines(place));
        operands.extend(self.coop_access(place, Touch::Read));
        let result = self.module.ty(ty);
        self.op(Op::CooperativeMatrixLoadKHR, result, &operands)
    }

    pub fn coop_store(&mut self, place: &CoopPlace, value: NodeId) {
        let pointer = self.coop_pointer(place, Touch::Write);
        let mut operands = vec![Operand::IdRef(pointer), Operand::IdRef(self.value(value))];
        operands.extend(self.coop_lines(place));
        operands.extend(self.coop_access(place, Touch::Write));
        self.effect(Op::CooperativeMatrixStoreKHR, &operands);
    }

    pub fn coop_multiply_add(&mut self, [a, b, sum]: [NodeId; 3], ty: &Type) -> Word {
        let is_signed = matches!(self.function.ty(a), Type::Coop(coop) if coop.scalar.is_signed());
        let mut operands = [a, b, sum].map(|matrix| Operand::IdRef(self.value(matrix))).to_vec();
        if is_signed {
            operands.push(Operand::CooperativeMatrixOperands(
                CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR
                    | CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR
                    | CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR
                    | CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR,
            ));
        }
        let result = self.module.ty(ty);
        self.op(Op::CooperativeMatrixMulAddKHR, result, &operands)
    }

    pub fn coop_length(&mut self, coop: &CoopType) -> Word {
        let matrix = self.module.coop_matrix(coop);
        self.ids(Op::CooperativeMatrixLengthKHR, &Type::U32, &[matrix])
    }

    /// A matrix whose components are all the same.
    pub fn coop_filled(&mut self, value: Word, coop: &CoopType) -> Word {
        let value = self.as_component(value, coop.scalar);
        self.construct(&[value], &Type::Coop(*coop))
    }

    /// An operation component by component; `None` for other operations.
    pub fn coop_math(&mut self, kind: &NodeKind, coop: &CoopType) -> Option<Word> {
        let is_float = coop.scalar.is_float();
        let (op, operands) = match *kind {
            NodeKind::Unary(_, a) => (if is_float { Op::FNegate } else { Op::SNegate }, vec![a]),
            NodeKind::Binary(BinaryOp::Add, a, b) => (if is_float { Op::FAdd } else { Op::IAdd }, vec![a, b]),
            NodeKind::Binary(BinaryOp::Sub, a, b) => (if is_float { Op::FSub } else { Op::ISub }, vec![a, b]),
            NodeKind::Binary(BinaryOp::Mul, a, b) => match self.function.node(b).kind {
                NodeKind::Splat(factor) => (Op::MatrixTimesScalar, vec![a, factor]),
                _ => (if is_float { Op::FMul } else { Op::IMul }, vec![a, b]),
            },
            NodeKind::Binary(_, a, b) => (Op::FDiv, vec![a, b]),
            NodeKind::Convert(a) => {
                let Type::Coop(from) = self.function.ty(a) else { return None };
                (conversion(from.scalar, coop.scalar), vec![a])
            }
            _ => return None,
        };
        let operands: Vec<Word> = operands.into_iter().map(|operand| self.value(operand)).collect();
        Some(self.ids(op, &Type::Coop(*coop), &operands))
    }

    pub fn load_component(&mut self, local: LocalId, index: NodeId, coop: &CoopType) -> Word {
        let place = self.component_place(local, index, coop);
        let component = self.module.coop_component(coop.scalar);
        let loaded = self.op(Op::Load, component, &[Operand::IdRef(place)]);
        match coop.scalar {
            Scalar::Bf16 => self.ids(Op::FConvert, &Type::F32, &[loaded]),
            _ => loaded,
        }
    }

    pub fn store_component(&mut self, local: LocalId, index: NodeId, value: Word, coop: &CoopType) {
        let place = self.component_place(local, index, coop);
        let value = self.as_component(value, coop.scalar);
        self.effect(Op::Store, &[Operand::IdRef(place), Operand::IdRef(value)]);
    }

    fn component_place(&mut self, local: LocalId, index: NodeId, coop: &CoopType) -> Word {
        let component = self.module.coop_component(coop.scalar);
        let chain = [self.local(local), self.value(index)];
        self.pointer_to(self.storage_class(local), component, &chain)
    }

    fn as_component(&mut self, value: Word, scalar: Scalar) -> Word {
        if scalar != Scalar::Bf16 {
            return value;
        }
        let component = self.module.coop_component(scalar);
        self.op(Op::FConvert, component, &[Operand::IdRef(value)])
    }

    fn coop_pointer(&mut self, place: &CoopPlace, touch: Touch) -> Word {
        match place.memory {
            CoopMemory::Shared(local) => self.local_part(local, &[Step::At(place.start)]).0,
            CoopMemory::Buffer(buffer) => {
                let variable = self.interface.buffer(buffer);
                match touch {
                    Touch::Write => variable.writes = true,
                    _ => variable.reads = true,
                }
                let start = self.proven_index(buffer, &place.start.into());
                self.element_pointer(buffer, start)
            }
        }
    }

    fn coop_lines(&mut self, place: &CoopPlace) -> [Operand; 2] {
        let layout = match place.lines {
            CoopLines::Rows => CooperativeMatrixLayout::RowMajorKHR,
            CoopLines::Columns => CooperativeMatrixLayout::ColumnMajorKHR,
        };
        let layout = self.int(&Type::U32, i128::from(layout as u32));
        [layout, self.value(place.stride)].map(Operand::IdRef)
    }

    fn coop_access(&mut self, place: &CoopPlace, touch: Touch) -> Vec<Operand> {
        let (class, element) = match place.memory {
            CoopMemory::Shared(local) => (self.storage_class(local), Type::Scalar(Scalar::U32)),
            CoopMemory::Buffer(buffer) => {
                let is_written = matches!(touch, Touch::Write) || self.interface.is_written(buffer);
                let variable = self.interface.buffer(buffer);
                let (class, element) = (variable.class(), variable.element.clone());
                if !is_written {
                    return super::reach::alignment(class, &element);
                }
                (class, element)
            }
        };
        self.memory_access(class, &element)
    }
}

/// Of components, where every value of the one type has its place in the other: never from float to int.
fn conversion(from: Scalar, to: Scalar) -> Op {
    match (from.kind(), to.kind()) {
        (Kind::Float, _) => Op::FConvert,
        (Kind::Signed, Kind::Float) => Op::ConvertSToF,
        (_, Kind::Float) => Op::ConvertUToF,
        _ if from.bits() == to.bits() => Op::Bitcast,
        (Kind::Signed, _) => Op::SConvert,
        _ => Op::UConvert,
    }
}
