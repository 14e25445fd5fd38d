//! Loads, stores and atomics of SIMD groups.
//!
//! An address whose lanes are at a constant stride is a [`Row`]. If one comparison shows that all of it is in
//! range, it is loaded and stored in vectors. Otherwise (at an array's end, or where an index wraps around) a
//! function loops over the lanes. Other addresses are checked and used lane by lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use rustc_hash::{FxHashMap, FxHashSet};

use super::exchange::Exchange;
use super::values::vector_type;
use super::{SimdGroup, Work};
use crate::Access;
use crate::cpu::emit::address::Limit;
use crate::cpu::emit::scalar::{Emitter, clif};
use crate::cpu::emit::trampolines::{N_LINES, call_signature};
use crate::cpu::lane::advance::advance;
use crate::cpu::lane::frames::is_own;
use crate::cpu::lane::shapes::{Bound, Shape, Shapes};
use crate::cpu::lane::simd::{Plan, RegionPlan};
use crate::cpu::lane::{Address, Binary, Convert, Op, Space, Ty, Value};

/// An address whose lanes are `stride` bytes apart.
pub(super) struct Row {
    address: Address,
    dynamic: Value,
    stride: i64,
    /// The first offset of the first lane at which some lane is out of range or wraps around.
    limit: Limit,
    /// The same for a single lane.
    lane_limit: Limit,
    /// Upper bounds for values of the first lane, so that the lanes are linear.
    conditions: Vec<(Value, u64)>,
    /// Further bounds for the first lane.
    guards: Vec<Guard>,
    /// Tests of an index that hold for every lane of a whole row.
    tests: Vec<Value>,
    exact: bool,
    /// Whether a loop steps through memory, with at least a cache line in each iteration.
    is_streamed: bool,
}

/// Size of a cache line in bytes.
const LINE: i64 = 64;
/// Prefetch distance. The hardware prefetches too, but stops at the end of each 4 KiB page and has to
/// restart.
const AHEAD: i64 = 16 << 10;
/// Bytes of one prefetch.
const AT_ONCE: i64 = N_LINES as i64 * LINE;

impl Row {
    /// Bytes from one lane to the next.
    pub(super) fn stride(&self) -> i64 {
        self.stride
    }
}

/// The first lane's index plus `reach` must be below a length.
struct Guard {
    index: Value,
    len: Value,
    reach: u64,
    /// If the address is this multiple of the widened index, the address is tested instead.
    scale: Option<u64>,
}

/// Flags of accesses to private memory.
pub(super) fn own() -> MemFlagsData {
    MemFlagsData::trusted()
}

pub(super) fn memory() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// Finds the rows of a region, and emits their limits before the loops over lanes.
pub(super) fn rows(
    scalar: &mut Emitter<'_, '_>,
    plan: &Plan,
    region: &RegionPlan,
    shapes: &Shapes<'_>,
    lazy: &FxHashSet<Value>,
) -> FxHashMap<Value, Row> {
    let mut rows = FxHashMap::default();
    let kernel = scalar.kernel;
    for (place, block) in region.order.blocks.iter().enumerate() {
        for inst in &kernel.blocks[block.0 as usize].insts {
            if let (Op::Address(address), Some(result)) = (&inst.op, inst.result)
                && let Some(mut row) = row(scalar, plan, shapes, lazy, address)
            {
                let bytes = row.stride * i64::from(plan.width);
                row.is_streamed = bytes >= LINE
                    && matches!(address.space, Space::Buffer(_))
                    && advance(kernel, shapes, &region.order, place, row.dynamic) == Some(bytes);
                rows.insert(result, row);
            }
        }
    }
    rows
}

fn row(
    scalar: &mut Emitter<'_, '_>,
    plan: &Plan,
    shapes: &Shapes<'_>,
    lazy: &FxHashSet<Value>,
    address: &Address,
) -> Option<Row> {
    let dynamic = address.dynamic.filter(|_| !is_own(address))?;
    let Some(Shape::Linear { stride, exact }) = shapes.get(dynamic) else { return None };
    // Single bytes are booleans or parts of words. In vectors, lanes have at least 32 bits.
    if address.size < 4 || stride != i64::from(address.size) || !(exact || lazy.contains(&dynamic)) {
        return None;
    }
    // A bool is one byte in memory, and wider in a vector.
    if stride < 4 {
        return None;
    }
    let last = u64::from(plan.width - 1);
    let mut found = Conditions::default();
    find_conditions(shapes, lazy, dynamic, last, &mut found)?;
    let Conditions { below: mut conditions, guards, tests } = found;
    let mut bound = u64::MAX;
    for (factor, value) in [(1, Some(dynamic)), scaled(shapes, dynamic)] {
        if let Some(own) = value.and_then(|value| conditions.remove(&value)) {
            bound = bound.min(own.saturating_mul(factor));
        }
    }
    let whole = Address { constant: address.constant.saturating_add(last * stride as u64), ..*address };
    let limit = scalar.limit(&whole);
    let limit = scalar.lower_limit(limit, bound);
    let guard = |(index, len, reach)| Guard { index, len, reach, scale: scale(shapes, dynamic, index) };
    let guards = guards.into_iter().map(guard).collect();
    Some(Row {
        address: *address,
        dynamic,
        stride,
        limit,
        lane_limit: scalar.limit(address),
        conditions: conditions.into_iter().collect(),
        guards,
        tests,
        exact,
        is_streamed: false,
    })
}

/// Matches a product of a value and a constant.
fn scaled(shapes: &Shapes<'_>, value: Value) -> (u64, Option<Value>) {
    match shapes.def(value) {
        Some(&Op::Binary(Binary::Mul, a, factor)) => match shapes.constant(factor) {
            Some(factor @ 1..=0xffff) => (factor, Some(a)),
            _ => (1, None),
        },
        _ => (1, None),
    }
}

/// The factor by which an address is a 32-bit index; `None` if it is anything else.
fn scale(shapes: &Shapes<'_>, address: Value, index: Value) -> Option<u64> {
    let (factor, wide) = scaled(shapes, address);
    let Some(&Op::Convert(Convert::SignExtend | Convert::ZeroExtend, narrow)) =
        shapes.def(wide.unwrap_or(address))
    else {
        return None;
    };
    let clamped = shapes.def(narrow).and_then(|op| shapes.guarded(op)).map(|guarded| guarded.then);
    (narrow == index || clamped == Some(index)).then_some(factor)
}

/// Bounds for the first lane of some values that make others linear.
#[derive(Default)]
struct Conditions {
    below: FxHashMap<Value, u64>,
    /// Index, length and reach, as in [`Guard`].
    guards: Vec<(Value, Value, u64)>,
    /// Tests that then hold for every lane.
    tests: Vec<Value>,
}

/// Finds the conditions under which `value` is linear. `None` if there is no simple form.
fn find_conditions(
    shapes: &Shapes<'_>,
    lazy: &FxHashSet<Value>,
    value: Value,
    last: u64,
    found: &mut Conditions,
) -> Option<()> {
    let Some(Shape::Linear { stride, exact: false }) = shapes.get(value) else { return Some(()) };
    if !lazy.contains(&value) || !(1..1 << 20).contains(&stride) {
        return None;
    }
    let reach = last * stride as u64;
    let mut note = |value: Value, bound: u64| {
        let known = found.below.entry(value).or_insert(u64::MAX);
        *known = bound.min(*known);
    };
    let op = shapes.def(value)?;
    match op {
        Op::Convert(convert @ (Convert::SignExtend | Convert::ZeroExtend), a) => {
            let width = if *convert == Convert::SignExtend { 31 } else { 32 };
            note(value, (1 << width) - reach);
            find_conditions(shapes, lazy, *a, last, found)?;
        }
        Op::Select(..) => {
            let guarded = shapes.guarded(op)?;
            // The operands of the test are available only in its own block.
            if shapes.home(guarded.test) != shapes.home(value) {
                return None;
            }
            found.tests.push(guarded.test);
            let index = shapes.get(guarded.index)?.stride().filter(|stride| (0..1 << 20).contains(stride))?;
            match guarded.len {
                Bound::Known(len) => note(guarded.index, len.saturating_sub(last * index as u64)),
                Bound::Made(len) => found.guards.push((guarded.index, len, last * index as u64)),
            }
            find_conditions(shapes, lazy, guarded.index, last, found)?;
            find_conditions(shapes, lazy, guarded.then, last, found)?;
        }
        Op::Binary(_, a, b) => {
            find_conditions(shapes, lazy, *a, last, found)?;
            find_conditions(shapes, lazy, *b, last, found)?;
        }
        _ => return None,
    }
    Some(())
}

/// A load that is selected only if a test of its index holds. A whole row passes the test.
pub(super) struct Tested {
    address: Value,
    ty: Ty,
    offset: u32,
    test: Value,
    /// Uniform parts of the test.
    uniform: Vec<Value>,
}

/// Finds selects between a loaded value and zero that can be merged into the load. Returns them by their
/// results, with the loads that have no other use.
pub(super) fn tested(
    work: Work<'_>,
    region: &RegionPlan,
    shapes: &Shapes<'_>,
    rows: &FxHashMap<Value, Row>,
) -> (FxHashMap<Value, Tested>, FxHashSet<Value>) {
    let mut n_uses: FxHashMap<Value, u32> = FxHashMap::default();
    region.each_use(work.kernel, work.carried, &mut |value, _| *n_uses.entry(value).or_default() += 1);
    let (mut found, mut loads) = (FxHashMap::default(), FxHashSet::default());
    for block in &region.order.blocks {
        // Loads since the last operation that may have written memory.
        let mut fresh: FxHashSet<Value> = FxHashSet::default();
        for inst in &work.kernel.blocks[block.0 as usize].insts {
            match (&inst.op, inst.result) {
                (Op::Load { .. }, Some(result)) => _ = fresh.insert(result),
                (&Op::Select(test, loaded, zero), Some(result)) if shapes.constant(zero) == Some(0) => {
                    if fresh.contains(&loaded)
                        && n_uses[&loaded] == 1
                        && let Some(tested) = as_tested(shapes, rows, test, loaded)
                    {
                        found.insert(result, tested);
                        loads.insert(loaded);
                    }
                }
                (Op::Store { .. } | Op::StoreNarrow { .. } | Op::Atomic { .. }, _)
                | (Op::CompareExchange { .. } | Op::AtomicLoad { .. } | Op::Subgroup(_), _) => fresh.clear(),
                _ => {}
            }
        }
    }
    (found, loads)
}

fn as_tested(
    shapes: &Shapes<'_>,
    rows: &FxHashMap<Value, Row>,
    test: Value,
    loaded: Value,
) -> Option<Tested> {
    let Some(&Op::Load { ty, address, offset }) = shapes.def(loaded) else { return None };
    let row = rows.get(&address).filter(|row| row.stride == i64::from(ty.size()))?;
    let mut uniform = Vec::new();
    let mut open = vec![test];
    while let Some(part) = open.pop() {
        if shapes.get(part) == Some(Shape::Uniform) {
            uniform.push(part);
        } else if !row.tests.contains(&part) {
            let Some(&Op::Binary(Binary::And, a, b)) = shapes.def(part) else { return None };
            if shapes.home(part) != shapes.home(loaded) {
                return None;
            }
            open.extend([a, b]);
        }
    }
    Some(Tested { address, ty, offset, test, uniform })
}

impl<'k> SimdGroup<'_, 'k, '_> {
    /// Loads from each lane's address.
    pub(super) fn load(&mut self, op: &'k Op, ty: Ty, address: Value, offset: u32) -> Vec<ir::Value> {
        if let Some(own) = self.own_address(address) {
            return self.load_own(own, ty, offset);
        }
        let rows = self.rows;
        match rows.get(&address) {
            Some(row) if row.stride == i64::from(ty.size()) => self.load_row(row, ty, offset, None),
            _ => self.each_lane(op),
        }
    }

    /// Loads a row, with zero in the lanes whose index fails a test.
    pub(super) fn load_tested(&mut self, tested: &Tested) -> Vec<ir::Value> {
        let rows = self.rows;
        let row = &rows[&tested.address];
        self.load_row(row, tested.ty, tested.offset, Some(tested))
    }

    fn load_row(&mut self, row: &Row, ty: Ty, offset: u32, tested: Option<&Tested>) -> Vec<ir::Value> {
        let (mut whole, there) = self.is_whole(row);
        for &test in tested.into_iter().flat_map(|tested| &tested.uniform) {
            let passed = self.scalar.value(test);
            whole = self.scalar.builder.ins().band(whole, passed);
        }
        let n = self.n_vectors(ty);
        let [fast, slow, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
        self.scalar.builder.set_cold_block(slow);
        let results: Vec<_> =
            (0..n).map(|_| self.scalar.builder.append_block_param(after, vector_type(ty))).collect();
        self.scalar.builder.ins().brif(whole, fast, &[], slow, &[]);

        self.scalar.builder.switch_to_block(fast);
        if let (true, Some(read_ahead)) = (row.is_streamed, self.read_ahead) {
            self.read_ahead(read_ahead, there, row.stride * i64::from(self.plan.width));
        }
        let vectors = self.load_vectors(ty, memory(), there, offset as i32);
        self.scalar.builder.ins().jump(after, &vectors);

        self.scalar.builder.switch_to_block(slow);
        let vectors = self.aside(|simd| {
            let exchange = simd.exchange(row, ty, offset, tested.map(|tested| tested.test), None);
            simd.load_vectors(ty, own(), exchange, 0)
        });
        self.scalar.builder.ins().jump(after, &vectors);
        self.scalar.builder.switch_to_block(after);
        results
    }

    /// Calls [`read_ahead`](crate::cpu::emit::trampolines::read_ahead) whenever a stream with stride `step`
    /// enters the lines of the next prefetch.
    fn read_ahead(&mut self, function: ir::FuncRef, there: ir::Value, step: i64) {
        let builder = &mut self.scalar.builder;
        let [calls, after] = std::array::from_fn(|_| builder.create_block());
        let since = builder.ins().band_imm_u(there, (AT_ONCE - 1) & -step);
        builder.ins().brif(since, after, &[], calls, &[]);
        builder.switch_to_block(calls);
        let soon = builder.ins().iadd_imm_s(there, AHEAD);
        builder.ins().call(function, &[soon]);
        builder.ins().jump(after, &[]);
        builder.switch_to_block(after);
    }

    fn load_vectors(
        &mut self,
        ty: Ty,
        flags: MemFlagsData,
        address: ir::Value,
        offset: i32,
    ) -> Vec<BlockArg> {
        let offsets = (0..self.n_vectors(ty)).map(|i| offset + 16 * i as i32);
        let load = |at| self.scalar.builder.ins().load(vector_type(ty), flags, address, at);
        offsets.map(load).map(BlockArg::Value).collect()
    }

    pub(super) fn store(&mut self, op: &'k Op, address: Value, offset: u32, value: Value) {
        if let Some(own) = self.own_address(address) {
            return self.store_own(own, offset, value);
        }
        let rows = self.rows;
        match rows.get(&address) {
            Some(row) if row.stride == i64::from(self.ty(value).size()) => {
                self.store_row(row, offset, value);
            }
            _ => self.store_apart(op, address, value),
        }
    }

    /// Stores to lanes that are not a row. A uniform store happens once.
    pub(super) fn store_apart(&mut self, op: &'k Op, address: Value, value: Value) {
        if [address, value].iter().all(|&value| self.shape(value) == Shape::Uniform) {
            self.scalar.op(op);
        } else {
            self.store_each(op, address);
        }
    }

    fn store_row(&mut self, row: &Row, offset: u32, value: Value) {
        let vectors = self.vector(value);
        let ty = self.ty(value);
        let (mut whole, there) = self.is_whole(row);
        let mask = self.active();
        // No other thread writes shared memory meanwhile, so inactive lanes may store the old value.
        let blends = row.address.space == Space::Shared;
        if let Some(mask) = mask.as_ref().filter(|_| !blends) {
            let all = self.all(mask);
            whole = self.scalar.builder.ins().band(whole, all);
        }
        let [fast, slow, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
        self.scalar.builder.set_cold_block(slow);
        self.scalar.builder.ins().brif(whole, fast, &[], slow, &[]);

        self.scalar.builder.switch_to_block(fast);
        for (i, &vector) in vectors.iter().enumerate() {
            let at = offset as i32 + 16 * i as i32;
            let blended = mask.as_ref().filter(|_| blends);
            let vector = match blended {
                Some(mask) => {
                    let before = self.scalar.builder.ins().load(vector_type(ty), memory(), there, at);
                    self.blend(Some(mask), i, ty, vector, before)
                }
                None => vector,
            };
            self.scalar.builder.ins().store(memory(), vector, there, at);
        }
        self.scalar.builder.ins().jump(after, &[]);

        self.scalar.builder.switch_to_block(slow);
        self.aside(|simd| {
            let bits = match &mask {
                Some(mask) => simd.bits(mask),
                None => simd.all_bits(),
            };
            simd.exchange(row, ty, offset, None, Some((&vectors, bits)));
        });
        self.scalar.builder.ins().jump(after, &[]);
        self.scalar.builder.switch_to_block(after);
    }

    /// Whether all lanes of a row are in range, and the address of the first.
    pub(super) fn is_whole(&mut self, row: &Row) -> (ir::Value, ir::Value) {
        let first = self.scalar.value(row.dynamic);
        let below = IntCC::UnsignedLessThan;
        let (scaled, others): (Vec<_>, Vec<_>) = row.guards.iter().partition(|guard| guard.scale.is_some());
        let limit = scaled.into_iter().fold(row.limit, |limit, guard| self.guarded_limit(limit, guard));
        let mut whole = match limit {
            Limit::Known(limit) => self.scalar.builder.ins().icmp_imm_u(below, first, limit as i64),
            Limit::Made(limit) => self.scalar.builder.ins().icmp(below, first, limit),
        };
        for &(value, bound) in &row.conditions {
            let own = self.scalar.value(value);
            let inside = self.scalar.builder.ins().icmp_imm_u(below, own, bound as i64);
            whole = self.scalar.builder.ins().band(whole, inside);
        }
        for &&Guard { index, len, reach, .. } in &others {
            let [own, len] = [index, len].map(|value| self.scalar.value(value));
            let rest = self.scalar.builder.ins().iadd_imm_s(len, -(reach as i64));
            let room = self.scalar.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, len, reach as i64);
            let inside = self.scalar.builder.ins().icmp(below, own, rest);
            let inside = self.scalar.builder.ins().band(room, inside);
            whole = self.scalar.builder.ins().band(whole, inside);
        }
        let base = self.scalar.base(&row.address);
        (whole, self.scalar.builder.ins().iadd(base, first))
    }

    /// The minimum of a limit and a guard's bound. A negative index is never below it.
    fn guarded_limit(&mut self, limit: Limit, guard: &Guard) -> Limit {
        let len = self.scalar.value(guard.len);
        let ins = &mut self.scalar.builder;
        let room = ins.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, len, guard.reach as i64);
        let wide = ins.ins().uextend(types::I64, len);
        let rest = ins.ins().iadd_imm_s(wide, -(guard.reach as i64));
        let scaled = ins.ins().imul_imm_s(rest, guard.scale.unwrap_or(1) as i64);
        let nothing = ins.ins().iconst(types::I64, 0);
        let own = ins.ins().select(room, scaled, nothing);
        self.scalar.lowest(limit, own)
    }

    /// Loops over the lanes of a row: loads, or stores the vectors of some lanes. Returns the address of the
    /// loaded values.
    fn exchange(
        &mut self,
        row: &Row,
        ty: Ty,
        offset: u32,
        test: Option<Value>,
        store: Option<(&[ir::Value], ir::Value)>,
    ) -> ir::Value {
        let slot = *self.exchange.get_or_insert_with(|| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size_of::<Exchange>() as u32, 4);
            self.scalar.builder.create_sized_stack_slot(data)
        });
        let exchange = self.scalar.builder.ins().stack_addr(types::I64, slot, 0);
        self.lane_offsets(row, test, exchange);
        let base = self.scalar.base(&row.address);
        let base = self.scalar.builder.ins().iadd_imm_s(base, i64::from(offset));
        let limit = match row.lane_limit {
            Limit::Known(limit) => self.scalar.builder.ins().iconst(types::I64, limit as i64),
            Limit::Made(limit) => limit,
        };
        let bytes = self.scalar.builder.ins().iconst(types::I32, i64::from(ty.size()));
        let (function, lanes) = match store {
            Some((vectors, bits)) => {
                for (i, &vector) in vectors.iter().enumerate() {
                    self.scalar.builder.ins().store(own(), vector, exchange, 16 * i as i32);
                }
                (self.trampolines.scatter, bits)
            }
            None => (self.trampolines.gather, self.all_bits()),
        };
        let fields = [
            (base, std::mem::offset_of!(Exchange, base)),
            (limit, std::mem::offset_of!(Exchange, limit)),
            (bytes, std::mem::offset_of!(Exchange, bytes)),
            (lanes, std::mem::offset_of!(Exchange, lanes)),
        ];
        for (value, at) in fields {
            self.scalar.builder.ins().store(own(), value, exchange, at as i32);
        }
        let signature = self.scalar.builder.import_signature(call_signature());
        let function = self.scalar.builder.ins().iconst(types::I64, function as i64);
        self.scalar.builder.ins().call_indirect(signature, function, &[exchange]);
        exchange
    }

    /// The bits of every lane.
    fn all_bits(&mut self) -> ir::Value {
        self.scalar.builder.ins().iconst(types::I32, (1 << self.plan.width) - 1)
    }

    /// Stores the offset of each lane of a row. Lanes that fail a test get an offset out of range.
    fn lane_offsets(&mut self, row: &Row, test: Option<Value>, exchange: ir::Value) {
        let start = std::mem::offset_of!(Exchange, offsets) as i32;
        for lane in 0..self.plan.width {
            let offset = if row.exact {
                let first = self.scalar.value(row.dynamic);
                self.scalar.builder.ins().iadd_imm_s(first, row.stride * i64::from(lane))
            } else {
                self.lane(row.dynamic, lane)
            };
            let offset = match test {
                Some(test) => {
                    let (passed, nowhere) = (self.lane(test, lane), self.scalar.constant(Ty::I64, u64::MAX));
                    self.scalar.builder.ins().select(passed, offset, nowhere)
                }
                None => offset,
            };
            self.scalar.builder.ins().store(own(), offset, exchange, start + 8 * lane as i32);
        }
    }

    /// Stores lane by lane. Inactive lanes store to scratch memory.
    fn store_each(&mut self, op: &'k Op, address: Value) {
        let bits = self.active().map(|mask| self.bits(&mask));
        for lane in 0..self.plan.width {
            let Some(bits) = bits else {
                self.lane_op(op, lane);
                continue;
            };
            let there = self.lane(address, lane);
            let sink = self.scalar.scratch(Access::Write);
            let runs = self.scalar.builder.ins().band_imm_u(bits, 1 << lane);
            let there = self.scalar.builder.ins().select(runs, there, sink);
            let before = self.made.lanes.insert((address, lane), there);
            self.lane_op_with(op, address, there, lane);
            match before {
                Some(before) => self.made.lanes.insert((address, lane), before),
                None => self.made.lanes.remove(&(address, lane)),
            };
        }
    }

    /// As `lane_op`, at a given address.
    fn lane_op_with(&mut self, op: &'k Op, address: Value, there: ir::Value, lane: u32) -> Option<ir::Value> {
        let mut operands = Vec::new();
        op.clone().each_use(&mut |value| operands.push(*value));
        let own: Vec<_> = operands
            .iter()
            .map(|&operand| if operand == address { there } else { self.lane(operand, lane) })
            .collect();
        self.with_operands(&operands, &own, |simd| simd.scalar.op(op))
    }

    /// Runs an operation with an effect for each active lane, in order.
    pub(super) fn one_by_one(&mut self, op: &'k Op, result: Value) -> Vec<ir::Value> {
        let ty = self.ty(result);
        let bits = self.active().map(|mask| self.bits(&mask));
        let mut lanes = Vec::new();
        for lane in 0..self.plan.width {
            let own = match bits {
                None => self.lane_op(op, lane).expect("an atomic has a result"),
                Some(bits) => self.if_lane_runs(bits, op, ty, lane),
            };
            lanes.push(own);
        }
        self.gather(ty, &lanes)
    }

    fn if_lane_runs(&mut self, bits: ir::Value, op: &'k Op, ty: Ty, lane: u32) -> ir::Value {
        let runs = self.scalar.builder.ins().band_imm_u(bits, 1 << lane);
        let [here, after] = std::array::from_fn(|_| self.scalar.builder.create_block());
        let result = self.scalar.builder.append_block_param(after, clif(ty));
        let nothing = self.scalar.constant(ty, 0);
        self.scalar.builder.ins().brif(runs, here, &[], after, &[BlockArg::Value(nothing)]);
        self.scalar.builder.switch_to_block(here);
        let own = self.aside(|simd| simd.lane_op(op, lane).expect("an atomic has a result"));
        self.scalar.builder.ins().jump(after, &[BlockArg::Value(own)]);
        self.scalar.builder.switch_to_block(after);
        result
    }
}
