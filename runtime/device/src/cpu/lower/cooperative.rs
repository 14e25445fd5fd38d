//! Cooperative matrices: each lane has some components ([`crate::cpu::lane::MultiplyAdd`] defines which).
//! Loads, stores and componentwise operations need no other lanes. Products are subgroup operations.

use kps_scalar::{Kind, Scalar};
use rspirv::spirv::{CooperativeMatrixLayout, CooperativeMatrixOperands, Op};

use super::memory::Leaf;
use super::pointers::{MemoryPlace, Place};
use super::{Data, Lowerer, Operand, subgroup};
use crate::cpu::lane::{self, Binary, Compare, GroupKind, MultiplyAdd, Overflow, Ty};
use crate::cpu::module::Instruction;
use crate::cpu::module::constants::lane_ty;
use crate::cpu::module::types::{Layout, MatrixLayout, Type, TypeId};
use crate::{Access, Result};

/// An offset outside of all memory.
const NOWHERE: i64 = 1 << 56;

pub fn is_known(op: Op) -> bool {
    matches!(
        op,
        Op::CooperativeMatrixLoadKHR
            | Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixMulAddKHR
            | Op::CooperativeMatrixLengthKHR
    )
}

#[derive(Clone, Copy)]
struct Shape {
    scalar: Scalar,
    rows: u32,
    columns: u32,
    /// Components for each lane.
    n: u32,
}

impl Lowerer<'_> {
    pub(super) fn cooperative(&mut self, inst: &Instruction) -> Result<()> {
        match inst.op {
            Op::CooperativeMatrixLoadKHR => self.load_matrix(inst),
            Op::CooperativeMatrixStoreKHR => self.store_matrix(inst),
            Op::CooperativeMatrixMulAddKHR => self.multiply_add(inst),
            _ => {
                let id = self.id(inst, 2)?;
                let shape = self.module.types.by_id(id).and_then(|ty| self.cooperative_shape(ty));
                let shape = shape.ok_or_else(|| self.wrong_operands(inst))?;
                let (ty, n) = (self.result_type(inst)?, self.builder.i32(shape.n as i32));
                self.define(inst, Operand::Data(Data { ty, parts: [n].into() }))
            }
        }
    }

    fn cooperative_shape(&self, ty: TypeId) -> Option<Shape> {
        match *self.module.types.get(ty) {
            Type::Cooperative { scalar, rows, columns, n, .. } => Some(Shape { scalar, rows, columns, n }),
            _ => None,
        }
    }

    fn load_matrix(&mut self, inst: &Instruction) -> Result<()> {
        let ty = self.result_type(inst)?;
        let shape = self.cooperative_shape(ty).ok_or_else(|| self.wrong_operands(inst))?;
        let places = self.components(inst, shape, 2, 3)?;
        let load = |place: &MemoryPlace| {
            let leaf = Leaf { offset: 0, scalar: shape.scalar, n: 1 };
            let address = self.leaf_address(place, &leaf, Access::Read);
            self.load_scalar(shape.scalar, address, 0)
        };
        let parts = places.iter().map(load).collect();
        self.define(inst, Operand::Data(Data { ty, parts }))
    }

    fn store_matrix(&mut self, inst: &Instruction) -> Result<()> {
        let data = self.data(inst, 1)?;
        let shape = self.cooperative_shape(data.ty).ok_or_else(|| self.wrong_operands(inst))?;
        let places = self.components(inst, shape, 0, 2)?;
        for (place, &part) in places.iter().zip(data.parts.iter()) {
            let leaf = Leaf { offset: 0, scalar: shape.scalar, n: 1 };
            let address = self.leaf_address(place, &leaf, Access::Write);
            self.store_scalar(shape.scalar, address, 0, part);
        }
        Ok(())
    }

    /// The addresses of the lane's components. The pointer is operand `i`; layout and stride start at `k`.
    fn components(
        &mut self,
        inst: &Instruction,
        shape: Shape,
        i: usize,
        k: usize,
    ) -> Result<Vec<MemoryPlace>> {
        let pointer = self.pointer(inst, i)?;
        let layout = CooperativeMatrixLayout::from_u32(self.constant_int(inst, k)? as u32);
        let by_rows = match layout {
            Some(CooperativeMatrixLayout::RowMajorKHR) => true,
            Some(CooperativeMatrixLayout::ColumnMajorKHR) => false,
            _ => return Err(self.unsupported(inst, "row-major and column-major matrices are supported")),
        };
        let (scalar, stride) = self.int(inst, k + 1)?;
        let stride = self.signed(scalar, stride);
        let stride = self.resize(stride, Ty::I64);
        let size = self.module.types.size(pointer.pointee, Layout::Natural, MatrixLayout::default());
        let (Place::Memory(place), Some(size)) = (&pointer.place, size) else {
            return Err(self.malformed(inst, "the pointer is to no buffer and no shared memory"));
        };
        if self.module.types.as_scalars(pointer.pointee).is_none() {
            return Err(self.malformed(inst, "the pointer is to a scalar or a vector"));
        }
        let size = self.builder.int(Ty::I64, size as i64);
        let stride = self.builder.binary(Binary::Mul, stride, size);
        let lane = self.subgroup_lane();
        let component = |i| {
            let (row, column) = self.element(shape, lane, i);
            let (major, minor) = if by_rows { (row, column) } else { (column, row) };
            let offset = self.offset_in(shape, (major, minor), stride);
            let offset = self.unless_beyond(shape, lane, i, offset);
            let dynamic = match place.dynamic {
                Some(before) => self.builder.binary(Binary::Add, before, offset),
                None => offset,
            };
            MemoryPlace { dynamic: Some(dynamic), ..place.clone() }
        };
        Ok((0..shape.n).map(component).collect())
    }

    /// The row-major index of a component's element.
    fn number(&mut self, lane: lane::Value, i: u32) -> lane::Value {
        let before = self.builder.i32((i * self.builder.kernel.subgroup_size) as i32);
        self.builder.binary(Binary::Add, lane, before)
    }

    fn element(&mut self, shape: Shape, lane: lane::Value, i: u32) -> (lane::Value, lane::Value) {
        let (number, columns) = (self.number(lane, i), self.builder.i32(shape.columns as i32));
        let row = self.builder.binary(Binary::DivU, number, columns);
        (row, self.builder.binary(Binary::RemU, number, columns))
    }

    fn offset_in(
        &mut self,
        shape: Shape,
        (major, minor): (lane::Value, lane::Value),
        stride: lane::Value,
    ) -> lane::Value {
        let (major, minor) = (self.resize(major, Ty::I64), self.resize(minor, Ty::I64));
        let size = self.builder.int(Ty::I64, i64::from(shape.scalar.bytes()));
        let line = self.builder.binary(Binary::Mul, major, stride);
        let within = self.builder.binary(Binary::Mul, minor, size);
        self.builder.binary(Binary::Add, line, within)
    }

    /// In some lanes, the last components are outside the matrix.
    fn unless_beyond(&mut self, shape: Shape, lane: lane::Value, i: u32, offset: lane::Value) -> lane::Value {
        let n = shape.rows * shape.columns;
        if (i + 1) * self.builder.kernel.subgroup_size <= n {
            return offset;
        }
        let (number, end) = (self.number(lane, i), self.builder.i32(n as i32));
        let within = self.builder.compare(Compare::LtU, number, end);
        let nowhere = self.builder.int(Ty::I64, NOWHERE);
        self.builder.select(within, offset, nowhere)
    }

    fn multiply_add(&mut self, inst: &Instruction) -> Result<()> {
        let ty = self.result_type(inst)?;
        let mut all = Vec::new();
        let mut shapes = Vec::new();
        for i in 2..5 {
            let data = self.data(inst, i)?;
            shapes.extend(self.cooperative_shape(data.ty));
            all.extend(data.parts.iter());
        }
        let ([a, b, c], Some(result)) = (&shapes[..], self.cooperative_shape(ty)) else {
            return Err(self.wrong_operands(inst));
        };
        let fits = a.columns == b.rows
            && (c.rows, c.columns) == (a.rows, b.columns)
            && (result.rows, result.columns) == (c.rows, c.columns)
            && [b, c, &result].iter().all(|shape| shape.scalar.is_int() == a.scalar.is_int());
        if !fits {
            return Err(self.wrong_operands(inst));
        }
        let operands = self.module.operands(inst).get(5).copied().unwrap_or(0);
        let operands = CooperativeMatrixOperands::from_bits_truncate(operands);
        let saturates = operands.contains(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR);
        let component = |scalar: Scalar, signed: CooperativeMatrixOperands| {
            let ints = if operands.contains(signed) { Kind::Signed } else { Kind::Unsigned };
            subgroup::as_kind(ints, scalar).unwrap_or(scalar)
        };
        let multiply = MultiplyAdd {
            rows: a.rows,
            inner: a.columns,
            columns: b.columns,
            a: component(a.scalar, CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR),
            b: component(b.scalar, CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR),
            c: component(c.scalar, CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR),
            sum: component(result.scalar, CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR),
            overflow: if saturates { Overflow::Saturates } else { Overflow::Wraps },
        };
        let results = vec![lane_ty(result.scalar); result.n as usize];
        let parts = self.subgroup_op(inst, GroupKind::MultiplyAdd(multiply), 0, &all, &results)?;
        self.define(inst, Operand::Data(Data { ty, parts: parts.into() }))
    }
}
