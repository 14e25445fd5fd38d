//! Conversion of values between vectors, the scalar of one lane, and masks.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, types};
use rustc_hash::FxHashSet;

use super::{LANES, SimdGroup, Work};
use crate::cpu::emit::scalar::clif;
use crate::cpu::lane::shapes::{Shape, Shapes};
use crate::cpu::lane::simd::{Plan, RegionPlan};
use crate::cpu::lane::{Def, Op, Ty, Value};

/// Wide ints, and their comparisons, that only addresses of the same block use. They are computed as scalars
/// for the lanes that need them.
pub(super) fn lazy(
    work: Work<'_>,
    plan: &Plan,
    region: &RegionPlan,
    shapes: &Shapes<'_>,
) -> FxHashSet<Value> {
    let kernel = work.kernel;
    let mut eager: FxHashSet<Value> = FxHashSet::default();
    region.each_use(kernel, work.carried, &mut |value, at| {
        if region.home(kernel, value).is_some_and(|home| home != at) {
            eager.insert(value);
        }
    });
    let mut lazy = FxHashSet::default();
    for block in &region.order.blocks {
        let block = &kernel.blocks[block.0 as usize];
        block.end.clone().each_use(&mut |value| _ = eager.insert(*value));
        for inst in block.insts.iter().rev() {
            // Reported values are needed only in the cold path.
            if matches!(inst.op, Op::Address(_) | Op::Instrument { .. }) {
                continue;
            }
            if let Some(result) = inst.result
                && !eager.contains(&result)
                && !plan.shapes[result.0 as usize].is_scalar()
                && is_index_arithmetic(work, &inst.op, result, shapes)
            {
                lazy.insert(result);
                continue;
            }
            inst.op.clone().each_use(&mut |value| _ = eager.insert(*value));
        }
    }
    lazy
}

fn is_index_arithmetic(work: Work<'_>, op: &Op, result: Value, shapes: &Shapes<'_>) -> bool {
    let ty = |value: Value| work.kernel.values[value.0 as usize].ty;
    match op {
        Op::Unary(..) | Op::Binary(..) | Op::Convert(..) => ty(result) == Ty::I64,
        Op::Select(..) => shapes.guarded(op).is_some(),
        Op::Compare(_, a, _) => ty(*a) == Ty::I64,
        _ => false,
    }
}

pub(super) fn vector_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::Bool | Ty::I32 => types::I32X4,
        Ty::F32 => types::F32X4,
        Ty::I64 => types::I64X2,
        Ty::F64 => types::F64X2,
    }
}

/// Lanes in one vector of a type.
pub(super) fn lanes_of(ty: Ty) -> u32 {
    vector_type(ty).lane_count()
}

/// Bitcasts between vectors keep the order of lanes.
fn same_order() -> MemFlagsData {
    MemFlagsData::new().with_endianness(ir::Endianness::Little)
}

impl<'k> SimdGroup<'_, 'k, '_> {
    pub(super) fn ty(&self, value: Value) -> Ty {
        self.scalar.ty(value)
    }

    /// Number of vectors for all lanes of a type.
    pub(super) fn n_vectors(&self, ty: Ty) -> usize {
        (self.plan.width / lanes_of(ty)) as usize
    }

    pub(super) fn define(&mut self, value: Value, vectors: Vec<ir::Value>) {
        if let Some(variables) = self.variables.get(&value) {
            for (&variable, &vector) in variables.iter().zip(&vectors) {
                self.scalar.builder.def_var(variable, vector);
            }
        }
        if let Some(variables) = self.exit_values.get(&value).cloned() {
            let mask = self.active();
            for (i, (variable, &new)) in variables.into_iter().zip(&vectors).enumerate() {
                let before = self.scalar.builder.use_var(variable);
                let now = self.blend(mask.as_deref(), i, self.ty(value), new, before);
                self.scalar.builder.def_var(variable, now);
            }
        }
        self.made.vectors.insert(value, vectors);
    }

    /// `new` in the lanes of a mask (in all, if there is none), `old` in the others.
    pub(super) fn blend(
        &mut self,
        mask: Option<&[ir::Value]>,
        i: usize,
        ty: Ty,
        new: ir::Value,
        old: ir::Value,
    ) -> ir::Value {
        let Some(mask) = mask else { return new };
        let mask = self.mask_for(mask, i, ty);
        self.scalar.builder.ins().bitselect(mask, new, old)
    }

    /// The part of a mask that fits vector `i` of a type.
    pub(super) fn mask_for(&mut self, mask: &[ir::Value], i: usize, ty: Ty) -> ir::Value {
        let to = vector_type(ty);
        if lanes_of(ty) == LANES {
            return self.cast(to, mask[i]);
        }
        let half = mask[i / 2];
        let ins = self.scalar.builder.ins();
        let wide = if i.is_multiple_of(2) { ins.swiden_low(half) } else { ins.swiden_high(half) };
        self.cast(to, wide)
    }

    /// A bitcast to another vector type.
    pub(super) fn cast(&mut self, to: ir::Type, vector: ir::Value) -> ir::Value {
        if self.scalar.builder.func.dfg.value_type(vector) == to {
            return vector;
        }
        self.scalar.builder.ins().bitcast(to, same_order(), vector)
    }

    /// A value as vectors, the first lanes first.
    pub(super) fn vector(&mut self, value: Value) -> Vec<ir::Value> {
        if self.region.is_loop_exit_value(self.work.kernel, value, self.place)
            && let Some(variables) = self.exit_values.get(&value)
        {
            return variables
                .clone()
                .into_iter()
                .map(|variable| self.scalar.builder.use_var(variable))
                .collect();
        }
        if let Some(vectors) = self.made.vectors.get(&value) {
            return vectors.clone();
        }
        if let Some(variables) = self.variables.get(&value) {
            return variables
                .clone()
                .into_iter()
                .map(|variable| self.scalar.builder.use_var(variable))
                .collect();
        }
        let vectors = match self.shape(value) {
            Shape::Uniform => {
                let vector = self.splat(value);
                vec![vector; self.n_vectors(self.ty(value))]
            }
            Shape::Linear { stride, exact: true } => self.spread(value, stride),
            Shape::Linear { .. } | Shape::Varying => {
                let op =
                    self.shapes.def(value).expect("a value without vectors or variables has an operation");
                self.vector_op(op)
            }
        };
        self.made.vectors.insert(value, vectors.clone());
        vectors
    }

    fn splat(&mut self, value: Value) -> ir::Value {
        let ty = self.ty(value);
        let scalar = self.scalar.value(value);
        let scalar = if ty == Ty::Bool { self.wide_bool(scalar) } else { scalar };
        self.scalar.builder.ins().splat(vector_type(ty), scalar)
    }

    /// A boolean as a 32-bit mask.
    fn wide_bool(&mut self, scalar: ir::Value) -> ir::Value {
        let wide = self.scalar.builder.ins().uextend(types::I32, scalar);
        self.scalar.builder.ins().ineg(wide)
    }

    fn spread(&mut self, value: Value, stride: i64) -> Vec<ir::Value> {
        let ty = self.ty(value);
        let first = self.splat(value);
        let lanes = lanes_of(ty);
        (0..self.n_vectors(ty))
            .map(|i| {
                let steps = (0..lanes).map(|lane| stride.wrapping_mul(i64::from(i as u32 * lanes + lane)));
                let bytes = match ty {
                    Ty::I64 => steps.flat_map(|step| step.to_le_bytes()).collect::<Vec<u8>>(),
                    _ => steps.flat_map(|step| (step as i32).to_le_bytes()).collect(),
                };
                let steps = self.constant_vector(vector_type(ty), bytes);
                self.scalar.builder.ins().iadd(first, steps)
            })
            .collect()
    }

    pub(super) fn constant_vector(&mut self, ty: ir::Type, bytes: Vec<u8>) -> ir::Value {
        let constant = self.scalar.builder.func.dfg.constants.insert(bytes.into());
        self.scalar.builder.ins().vconst(ty, constant)
    }

    pub(super) fn no_lanes(&mut self) -> ir::Value {
        self.constant_vector(types::I32X4, vec![0; 16])
    }

    pub(super) fn all_lanes(&mut self) -> ir::Value {
        self.constant_vector(types::I32X4, vec![0xff; 16])
    }

    /// The value of one lane.
    pub(super) fn lane(&mut self, value: Value, lane: u32) -> ir::Value {
        if let Some(&made) = self.made.lanes.get(&(value, lane)) {
            return made;
        }
        if let Some(own) = self.own_address(value) {
            let there = self.own_place(own, 0, lane);
            self.made.lanes.insert((value, lane), there);
            return there;
        }
        let is_exit_value = self.region.is_loop_exit_value(self.work.kernel, value, self.place);
        let made = match self.shape(value) {
            Shape::Uniform => return self.scalar.value(value),
            Shape::Linear { stride, exact: true } if !is_exit_value => {
                let first = self.scalar.value(value);
                let step = stride.wrapping_mul(i64::from(lane));
                let step = if self.ty(value) == Ty::I32 { i64::from(step as i32) } else { step };
                if step == 0 { first } else { self.scalar.builder.ins().iadd_imm_s(first, step) }
            }
            _ => match self.shapes.def(value) {
                Some(op) if self.lazy.contains(&value) || matches!(op, Op::Address(_)) => {
                    self.lane_op(op, lane).expect("an operation that is put off has a result")
                }
                _ => self.extract(value, lane),
            },
        };
        self.made.lanes.insert((value, lane), made);
        made
    }

    fn extract(&mut self, value: Value, lane: u32) -> ir::Value {
        let (ty, vectors) = (self.ty(value), self.vector(value));
        let lanes = lanes_of(ty);
        let vector = vectors[(lane / lanes) as usize];
        let part = self.scalar.builder.ins().extractlane(vector, (lane % lanes) as u8);
        match ty {
            Ty::Bool => self.scalar.builder.ins().icmp_imm_s(IntCC::NotEqual, part, 0),
            _ => part,
        }
    }

    /// Runs an operation for one lane, in scalar code.
    pub(super) fn lane_op(&mut self, op: &Op, lane: u32) -> Option<ir::Value> {
        let mut operands = Vec::new();
        op.clone().each_use(&mut |value| operands.push(*value));
        let own: Vec<_> = operands.iter().map(|&operand| self.lane(operand, lane)).collect();
        self.with_operands(&operands, &own, |simd| simd.scalar.op(op))
    }

    /// Replaces some operands for the scalar emitter.
    pub(super) fn with_operands<T>(
        &mut self,
        operands: &[Value],
        own: &[ir::Value],
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mut before = Vec::new();
        for (&operand, &own) in operands.iter().zip(own) {
            if !matches!(self.work.kernel.values[operand.0 as usize].def, Def::Const(_)) {
                before.push((operand, self.scalar.values[operand.0 as usize].replace(own)));
            }
        }
        let result = work(self);
        for (operand, value) in before.into_iter().rev() {
            self.scalar.values[operand.0 as usize] = value;
        }
        result
    }

    /// Builds vectors from scalars of each lane.
    pub(super) fn gather(&mut self, ty: Ty, lanes: &[ir::Value]) -> Vec<ir::Value> {
        lanes.chunks(lanes_of(ty) as usize).map(|lanes| self.pack(ty, lanes)).collect()
    }

    fn pack(&mut self, ty: Ty, lanes: &[ir::Value]) -> ir::Value {
        let scalars: Vec<_> =
            lanes.iter().map(|&lane| if ty == Ty::Bool { self.wide_bool(lane) } else { lane }).collect();
        let mut vector = self.scalar.builder.ins().scalar_to_vector(vector_type(ty), scalars[0]);
        for (i, &scalar) in scalars.iter().enumerate().skip(1) {
            vector = self.scalar.builder.ins().insertlane(vector, scalar, i as u8);
        }
        vector
    }

    /// The mask of active lanes; `None` if all are active.
    pub(super) fn active(&mut self) -> Option<Vec<ir::Value>> {
        if self.region.converged[self.place] {
            return None;
        }
        let active = self.active.clone();
        Some(active.into_iter().map(|variable| self.scalar.builder.use_var(variable)).collect())
    }

    pub(super) fn any(&mut self, mask: &[ir::Value]) -> ir::Value {
        let either = self.reduce(mask, |builder, a, b| builder.ins().bor(a, b));
        self.scalar.builder.ins().vany_true(either)
    }

    pub(super) fn none(&mut self, mask: &[ir::Value]) -> ir::Value {
        let either = self.reduce(mask, |builder, a, b| builder.ins().bor(a, b));
        let out = self.no_lanes();
        let out = self.scalar.builder.ins().icmp(IntCC::Equal, either, out);
        self.scalar.builder.ins().vall_true(out)
    }

    pub(super) fn all(&mut self, mask: &[ir::Value]) -> ir::Value {
        let both = self.reduce(mask, |builder, a, b| builder.ins().band(a, b));
        self.scalar.builder.ins().vall_true(both)
    }

    fn reduce(
        &mut self,
        mask: &[ir::Value],
        op: impl Fn(&mut cranelift_frontend::FunctionBuilder<'_>, ir::Value, ir::Value) -> ir::Value,
    ) -> ir::Value {
        let mut parts = mask.iter().copied();
        let first = parts.next().expect("a SIMD group has at least one vector");
        parts.fold(first, |a, b| op(&mut self.scalar.builder, a, b))
    }

    /// A mask as bits, with the first lane in the lowest.
    pub(super) fn bits(&mut self, mask: &[ir::Value]) -> ir::Value {
        let mut bits = self.scalar.builder.ins().iconst(types::I32, 0);
        for (i, &part) in mask.iter().enumerate() {
            let part = self.scalar.builder.ins().vhigh_bits(types::I32, part);
            let moved = self.scalar.builder.ins().ishl_imm_u(part, i as i64 * i64::from(LANES));
            bits = self.scalar.builder.ins().bor(bits, moved);
        }
        bits
    }

    /// The scalar type of a value.
    pub(super) fn scalar_type(&self, value: Value) -> ir::Type {
        clif(self.ty(value))
    }
}
