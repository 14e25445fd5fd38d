//! Scalar code: a function that runs a region of a row of workgroups, lane after lane, x innermost.
//!
//! ```text
//! prologue    values that all lanes share: bases, sizes, limits
//! groups      first_x .. end_x; inside the loops over lanes z and y if SIMD groups run along rows
//! lanes z, y, x
//! the region's blocks; its end goes to the next lane
//! ```
//!
//! Without barriers there is one region, and no value is carried. With barriers, each lane ends with the number
//! of its next region, on which all lanes of the workgroup must agree.
//!
//! With subgroup operations, each lane's memory has a [`LaneState`]. The function runs the lanes that are ready
//! for its region, and stores in each the region that it waits for. `cpu::subgroups` makes lanes ready.
//!
//! Loops of the kernel poll the interrupt flag at their back edges.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::address::Spaces;
use super::context::{Context, DONE, LaneState, Stop};
use super::{LineTable, Target, Work};
use crate::cpu::lane::regions::{Carried, Region, Regions};
use crate::cpu::lane::{
    Address, BlockId, Builtin, Compare, Def, Edge, Kernel, Op, Space, Terminator, Ty, Value,
};
use crate::cpu::module::Line;

/// Emits the body of a region's function.
pub(super) fn emit(
    work: Work<'_>,
    target: Target,
    lines: &mut LineTable,
    builder: FunctionBuilder<'_>,
    config: TargetFrontendConfig,
) {
    let mut emitter = Emitter::new(work, target, lines, builder);
    emitter.groups(&mut |emitter| emitter.region());
    emitter.finish(config);
}

pub(super) struct Emitter<'k, 'b> {
    pub kernel: &'k Kernel,
    pub target: Target,
    regions: &'k Regions,
    pub region: &'k Region,
    carried: &'k Carried,
    /// Lanes along x in one iteration, which may be workgroups.
    pub width: u32,
    pub groups_at_once: u32,
    /// Whether the loop over workgroups is inside those over rows.
    pub along_rows: bool,
    /// Bytes from the memory of one lane to the next, if lanes wait for each other.
    pub lane_bytes: u32,
    pub builder: FunctionBuilder<'b>,
    pub context: ir::Value,
    pub spaces: Spaces,
    /// The end of the row of workgroups.
    end_x: ir::Value,
    /// Workgroup and lane along each axis, in the current loops.
    group: [ir::Value; 3],
    lane: [ir::Value; 3],
    blocks: FxHashMap<BlockId, ir::Block>,
    pub values: Vec<Option<ir::Value>>,
    /// Values that a region may load as carried, or compute again.
    pub carried_values: FxHashMap<Value, Variable>,
    /// Constants and built-ins that the current block has already.
    pub ready: FxHashMap<Value, ir::Value>,
    /// The comparisons that the current block has already.
    pub compared: FxHashMap<Value, (Compare, Value, Value)>,
    /// Addresses of memory that no kernel changes.
    pub fixed_addresses: FxHashSet<Value>,
    /// Ends a lane's run of the region; the argument is its next region.
    lane_end: ir::Block,
    /// The next region of the lanes so far; negative before the first.
    agreed: Variable,
    lines: &'b mut LineTable,
    /// Blocks that leave the function, by their return value.
    stops: BTreeMap<i32, ir::Block>,
}

/// A counted loop that is open.
struct Loop {
    head: ir::Block,
    counter: ir::Value,
    step: u32,
    end: ir::Value,
}

impl<'k, 'b> Emitter<'k, 'b> {
    pub fn new(
        work: Work<'k>,
        target: Target,
        lines: &'b mut LineTable,
        mut builder: FunctionBuilder<'b>,
    ) -> Self {
        let Work { kernel, regions, region, carried } = work;
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [context, first_x, end_x, y, z] = *builder.block_params(entry) else {
            unreachable!("the signature has five parameters")
        };
        let spaces = Spaces::prologue(kernel, region, carried, &mut builder, context);
        let lane_end = builder.create_block();
        let variable = |&value: &Value| {
            let ty = clif(kernel.values[value.0 as usize].ty);
            (value, builder.declare_var(ty))
        };
        let carried_values = carried.offsets.keys().map(variable).collect();
        let agreed = builder.declare_var(types::I32);
        Emitter {
            kernel,
            target,
            regions,
            region,
            carried,
            width: 1,
            groups_at_once: 1,
            along_rows: false,
            lane_bytes: lane_stride(kernel, carried),
            context,
            spaces,
            end_x,
            group: [first_x, y, z],
            // Set when the loops over lanes are opened.
            lane: [first_x; 3],
            blocks: FxHashMap::default(),
            values: vec![None; kernel.values.len()],
            carried_values,
            ready: FxHashMap::default(),
            compared: FxHashMap::default(),
            fixed_addresses: FxHashSet::default(),
            lane_end,
            agreed,
            lines,
            stops: BTreeMap::new(),
            builder,
        }
    }

    /// Workgroup and lane along each axis.
    pub fn place(&self) -> [ir::Value; 6] {
        let ([x, y, z], [lane_x, lane_y, lane_z]) = (self.group, self.lane);
        [x, y, z, lane_x, lane_y, lane_z]
    }

    fn has_barriers(&self) -> bool {
        lanes_wait(self.kernel, self.regions)
    }

    /// Whether lanes may wait at different places.
    fn lanes_diverge(&self) -> bool {
        !self.kernel.group_ops.is_empty()
    }

    /// Emits the loops over workgroups and lanes around a region; `body` emits the region.
    pub fn groups(&mut self, body: &mut dyn FnMut(&mut Self)) {
        if self.lanes_diverge() || self.along_rows {
            self.lanes(body);
            let done = self.builder.ins().iconst(types::I32, i64::from(DONE));
            self.builder.ins().return_(&[done]);
        } else if self.has_barriers() {
            // The row is one workgroup.
            self.lanes(body);
            let agreed = self.builder.use_var(self.agreed);
            self.builder.ins().return_(&[agreed]);
        } else {
            let groups = self.open_loop(self.group[0], self.end_x, self.groups_at_once);
            self.group[0] = groups.counter;
            self.lanes(body);
            self.close_loop(groups);
            let done = self.builder.ins().iconst(types::I32, i64::from(DONE));
            self.builder.ins().return_(&[done]);
        }
        self.stop_blocks();
    }

    pub fn finish(mut self, config: TargetFrontendConfig) {
        self.builder.seal_all_blocks();
        self.builder.finalize(config);
    }

    /// The loops over the lanes of a workgroup.
    fn lanes(&mut self, body: &mut dyn FnMut(&mut Self)) {
        if self.has_barriers() && !self.lanes_diverge() {
            self.builder.append_block_param(self.lane_end, types::I32);
            let none = self.builder.ins().iconst(types::I32, -1);
            self.builder.def_var(self.agreed, none);
        }
        let mut loops = Vec::new();
        for axis in [2, 1, 0] {
            if axis == 0 && self.along_rows {
                let groups = self.open_loop(self.group[0], self.end_x, self.groups_at_once);
                self.group[0] = groups.counter;
                loops.push(groups);
            }
            let zero = self.builder.ins().iconst(types::I32, 0);
            let n = self.kernel.local_size[axis];
            let step = if axis == 0 { self.width } else { 1 };
            if n == step {
                self.lane[axis] = zero;
                continue;
            }
            let end = self.builder.ins().iconst(types::I32, i64::from(n));
            let opened = self.open_loop(zero, end, step);
            self.lane[axis] = opened.counter;
            loops.push(opened);
        }
        if self.kernel.is_shuffled {
            self.shuffle_lanes();
        }
        self.lane_memory();
        if self.lanes_diverge() {
            self.skip_unready();
        }
        body(self);
        self.builder.switch_to_block(self.lane_end);
        if self.has_barriers() && !self.lanes_diverge() {
            self.agree();
        }
        while let Some(opened) = loops.pop() {
            self.close_loop(opened);
        }
    }

    /// Lane number `i` along an axis is `(i * step + start) % n`.
    fn shuffle_lanes(&mut self) {
        for axis in 0..3 {
            let n = self.kernel.local_size[axis];
            let step = std::mem::offset_of!(Context, order) as i32 + 8 * axis as i32;
            let [step, start] =
                [step, step + 4].map(|at| self.builder.ins().load(types::I32, fixed(), self.context, at));
            let moved = self.builder.ins().imul(self.lane[axis], step);
            let moved = self.builder.ins().iadd(moved, start);
            let n = self.builder.ins().iconst(types::I32, i64::from(n));
            self.lane[axis] = self.builder.ins().urem(moved, n);
        }
    }

    /// If lanes wait for each other, each has its own frame and carried values.
    fn lane_memory(&mut self) {
        let stride = self.lane_bytes;
        if !self.has_barriers() || stride == 0 {
            return;
        }
        let index = self.builtin(Builtin::LocalIndex);
        let index = self.builder.ins().uextend(types::I64, index);
        let offset = self.builder.ins().imul_imm_s(index, i64::from(stride));
        self.spaces.move_frame(&mut self.builder, offset);
    }

    /// Skips this lane unless it is ready for the region.
    fn skip_unready(&mut self) {
        let region = self.regions.by_entry[&self.region.entry];
        let (frame, offset) = (self.spaces.frame(), self.state_offset());
        let state = self.builder.ins().load(types::I32, own(), frame, offset);
        let ready = i64::from(LaneState::Ready(region).bits());
        let is_ready = self.builder.ins().icmp_imm_u(IntCC::Equal, state, ready);
        let go_on = self.builder.create_block();
        self.builder.ins().brif(is_ready, go_on, &[], self.lane_end, &[]);
        self.builder.switch_to_block(go_on);
    }

    fn state_offset(&self) -> i32 {
        (self.kernel.frame_size + self.carried.size()) as i32
    }

    /// Leaves the function if this lane's next region differs from that of the lanes before it.
    fn agree(&mut self) {
        let next = self.builder.block_params(self.lane_end)[0];
        let before = self.builder.use_var(self.agreed);
        let other = self.builder.ins().icmp(IntCC::NotEqual, before, next);
        let known = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, before, 0);
        let diverged = self.builder.ins().band(other, known);
        self.builder.def_var(self.agreed, next);
        let (part, go_on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(part);
        self.builder.ins().brif(diverged, part, &[], go_on, &[]);
        self.builder.switch_to_block(part);
        let first = std::mem::offset_of!(Context, diverged) as i32;
        for (region, offset) in [(before, first), (next, first + 4)] {
            self.builder.ins().store(own(), region, self.context, offset);
        }
        let lane = self.builtin(Builtin::LocalIndex);
        let diverged_lane = std::mem::offset_of!(Context, diverged_lane) as i32;
        self.builder.ins().store(own(), lane, self.context, diverged_lane);
        let status = self.builder.ins().iconst(types::I32, i64::from(Stop::Diverged.status()));
        self.builder.ins().return_(&[status]);
        self.builder.switch_to_block(go_on);
    }

    /// Opens a loop from `first` to `end`, which is larger. The test is at the end. That saves a jump, and
    /// the code generator hoists invariants out of loops of this form.
    fn open_loop(&mut self, first: ir::Value, end: ir::Value, step: u32) -> Loop {
        let head = self.builder.create_block();
        let counter = self.builder.append_block_param(head, types::I32);
        self.builder.ins().jump(head, &[BlockArg::Value(first)]);
        self.builder.switch_to_block(head);
        Loop { head, counter, step, end }
    }

    fn close_loop(&mut self, opened: Loop) {
        let after = self.builder.create_block();
        let next = self.builder.ins().iadd_imm_s(opened.counter, i64::from(opened.step));
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, next, opened.end);
        self.builder.ins().brif(more, opened.head, &[BlockArg::Value(next)], after, &[]);
        self.builder.switch_to_block(after);
    }

    fn region(&mut self) {
        let region = self.region;
        for &id in &region.blocks {
            let block = self.builder.create_block();
            // The lane loop jumps to the entry without arguments. After a barrier there are no parameters,
            // and no edge leads to the kernel's first block.
            for &param in &self.kernel.blocks[id.0 as usize].params {
                let ty = clif(self.kernel.values[param.0 as usize].ty);
                self.builder.append_block_param(block, ty);
            }
            self.blocks.insert(id, block);
        }
        self.load_carried();
        let entry = self.blocks[&region.entry];
        self.builder.ins().jump(entry, &[]);
        for &id in &region.blocks {
            self.block(id);
        }
    }

    fn load_carried(&mut self) {
        let carried = self.carried;
        for value in carried.live.get(&self.region.entry).into_iter().flatten() {
            let ty = clif(self.kernel.values[value.0 as usize].ty);
            let offset = self.carry_offset(*value);
            let loaded = self.builder.ins().load(ty, own(), self.spaces.frame(), offset);
            self.builder.def_var(self.carried_values[value], loaded);
        }
    }

    /// Stores the values that are live after a barrier.
    fn store_carried(&mut self, after: BlockId) {
        let carried = self.carried;
        for &value in carried.live.get(&after).into_iter().flatten() {
            let (stored, offset) = (self.value(value), self.carry_offset(value));
            self.builder.ins().store(own(), stored, self.spaces.frame(), offset);
        }
    }

    /// Offset of a carried value in the lane's memory: after its frame. For SIMD groups, each value has a
    /// column with all lanes side by side.
    pub fn carry_offset(&self, value: Value) -> i32 {
        let n_lanes: u32 = self.kernel.local_size.iter().product();
        let columns = if self.width > 1 { n_lanes } else { 1 };
        ((self.kernel.frame_size + self.carried.offsets[&value]) * columns) as i32
    }

    fn block(&mut self, id: BlockId) {
        let clif_block = self.blocks[&id];
        self.builder.switch_to_block(clif_block);
        self.ready.clear();
        self.compared.clear();
        let kernel = self.kernel;
        let block = &kernel.blocks[id.0 as usize];
        for (i, &param) in block.params.iter().enumerate() {
            let value = self.builder.block_params(clif_block)[i];
            self.define(param, value);
        }
        for inst in &block.insts {
            let value = self.op(&inst.op);
            if let (Some(result), Some(value)) = (inst.result, value) {
                self.note(&inst.op, result);
                self.define(result, value);
            }
        }
        let goes_back = block.end.edges().iter().any(|edge| self.region.back_edges.contains(&(id, edge.to)));
        if goes_back {
            self.poll(block.line.or_else(|| block.insts.iter().rev().find_map(|inst| inst.line)));
        }
        self.terminator(id, &block.end);
    }

    /// Records facts about a result that later operations use.
    pub fn note(&mut self, op: &Op, result: Value) {
        match op {
            Op::Compare(op, a, b) => {
                self.compared.insert(result, (*op, *a, *b));
            }
            Op::Address(Address { space: Space::Push, .. }) => {
                self.fixed_addresses.insert(result);
            }
            _ => {}
        }
    }

    pub fn define(&mut self, value: Value, made: ir::Value) {
        match self.carried_values.get(&value) {
            Some(&variable) => self.builder.def_var(variable, made),
            None => self.values[value.0 as usize] = Some(made),
        }
    }

    /// Leaves the function if the interrupt flag is set.
    pub fn poll(&mut self, line: Option<Line>) {
        let stop = Stop::Interrupted(self.lines.place(line));
        let (stop, go_on) = (self.stop(stop), self.builder.create_block());
        let offset = std::mem::offset_of!(Context, interrupt) as i32;
        let flag = self.builder.ins().load(types::I64, fixed(), self.context, offset);
        // An atomic load is never merged with an earlier one.
        let raised = self.builder.ins().atomic_load(types::I8, MemFlagsData::trusted(), flag);
        self.builder.ins().brif(raised, stop, &[], go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// The block that leaves the function with this status.
    fn stop(&mut self, stop: Stop) -> ir::Block {
        *self.stops.entry(stop.status()).or_insert_with(|| self.builder.create_block())
    }

    fn stop_blocks(&mut self) {
        for (status, stop) in std::mem::take(&mut self.stops) {
            self.builder.set_cold_block(stop);
            self.builder.switch_to_block(stop);
            let status = self.builder.ins().iconst(types::I32, i64::from(status));
            self.builder.ins().return_(&[status]);
        }
    }

    /// Ends the lane's run of the region.
    pub fn end_lane(&mut self, next: i32) {
        if self.lanes_diverge() {
            let state = LaneState::Waiting(next as usize).bits();
            let state = self.builder.ins().iconst(types::I32, i64::from(state));
            let (frame, offset) = (self.spaces.frame(), self.state_offset());
            self.builder.ins().store(own(), state, frame, offset);
            self.builder.ins().jump(self.lane_end, &[]);
            return;
        }
        let next = if self.has_barriers() {
            vec![BlockArg::Value(self.builder.ins().iconst(types::I32, i64::from(next)))]
        } else {
            Vec::new()
        };
        self.builder.ins().jump(self.lane_end, &next);
    }

    fn terminator(&mut self, from: BlockId, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(edge) => {
                let args = self.args(edge);
                self.builder.ins().jump(self.blocks[&edge.to], &args);
            }
            Terminator::Branch { condition, then, otherwise } => {
                let leaves = |edge: &Edge| self.region.exits.contains(&(from, edge.to));
                // The code generator hoists invariants out of a loop only if the loop continues at the second
                // target.
                if leaves(otherwise) && !leaves(then) {
                    let condition = self.opposite(*condition);
                    self.branch(condition, otherwise, then);
                } else {
                    let condition = self.value(*condition);
                    self.branch(condition, then, otherwise);
                }
            }
            Terminator::Switch { value, cases, default } => self.switch(*value, cases, default),
            Terminator::Barrier(after) | Terminator::Subgroup { next: after, .. } => {
                self.store_carried(*after);
                self.end_lane(self.regions.by_entry[after] as i32);
            }
            Terminator::Exit => self.end_lane(DONE),
        }
    }

    fn branch(&mut self, condition: ir::Value, then: &Edge, otherwise: &Edge) {
        let (then_args, otherwise_args) = (self.args(then), self.args(otherwise));
        let (then, otherwise) = (self.blocks[&then.to], self.blocks[&otherwise.to]);
        self.builder.ins().brif(condition, then, &then_args, otherwise, &otherwise_args);
    }

    fn switch(&mut self, value: Value, cases: &[(u64, Edge)], default: &Edge) {
        let value = self.value(value);
        // Targets of a jump table take no arguments: each edge gets a block that does.
        let mut switch = Switch::new();
        let mut steps = Vec::new();
        for (literal, edge) in cases {
            let step = self.builder.create_block();
            switch.set_entry(u128::from(*literal), step);
            steps.push((step, edge));
        }
        let otherwise = self.builder.create_block();
        steps.push((otherwise, default));
        switch.emit(&mut self.builder, value, otherwise);
        for (step, edge) in steps {
            self.builder.switch_to_block(step);
            self.ready.clear();
            let args = self.args(edge);
            self.builder.ins().jump(self.blocks[&edge.to], &args);
        }
    }

    fn args(&mut self, edge: &Edge) -> Vec<BlockArg> {
        edge.args.iter().map(|&arg| BlockArg::Value(self.value(arg))).collect()
    }

    pub fn value(&mut self, value: Value) -> ir::Value {
        if let Some(value) = self.values[value.0 as usize].or_else(|| self.ready.get(&value).copied()) {
            return value;
        }
        if let Some(&variable) = self.carried_values.get(&value) {
            return self.builder.use_var(variable);
        }
        let info = self.kernel.values[value.0 as usize];
        let made = match info.def {
            Def::Const(bits) => self.constant(info.ty, bits),
            Def::Builtin(builtin) => self.builtin(builtin),
            Def::Param(_) | Def::Inst(_) => unreachable!("a definition dominates its uses"),
        };
        self.ready.insert(value, made);
        made
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> ir::Value {
        let ins = self.builder.ins();
        match ty {
            Ty::Bool => ins.iconst(types::I8, bits as i64),
            Ty::I32 => ins.iconst(types::I32, bits as i64),
            Ty::I64 => ins.iconst(types::I64, bits as i64),
            Ty::F32 => ins.f32const(f32::from_bits(bits as u32)),
            Ty::F64 => ins.f64const(f64::from_bits(bits)),
        }
    }

    pub fn as_const(&self, value: Value) -> Option<u64> {
        match self.kernel.values[value.0 as usize].def {
            Def::Const(bits) => Some(bits),
            _ => None,
        }
    }

    pub fn ty(&self, value: Value) -> Ty {
        self.kernel.values[value.0 as usize].ty
    }

    pub(super) fn builtin(&mut self, builtin: Builtin) -> ir::Value {
        let size = self.kernel.local_size.map(i64::from);
        match builtin {
            Builtin::GroupId(axis) => self.group[usize::from(axis)],
            Builtin::LocalId(axis) => self.lane[usize::from(axis)],
            Builtin::GlobalId(axis) => {
                let axis = usize::from(axis);
                let first = self.builder.ins().imul_imm_s(self.group[axis], size[axis]);
                self.builder.ins().iadd(first, self.lane[axis])
            }
            Builtin::LocalIndex => {
                let [x, y, z] = self.lane;
                let rows = self.builder.ins().imul_imm_s(z, size[1]);
                let row = self.builder.ins().iadd(rows, y);
                let before = self.builder.ins().imul_imm_s(row, size[0]);
                self.builder.ins().iadd(before, x)
            }
            Builtin::NumGroups(axis) => {
                let offset = std::mem::offset_of!(Context, n_groups) as i32 + 4 * i32::from(axis);
                self.builder.ins().load(types::I32, fixed(), self.context, offset)
            }
        }
    }
}

/// Whether lanes of a workgroup wait for each other, so that each has its own memory.
pub fn lanes_wait(kernel: &Kernel, regions: &Regions) -> bool {
    regions.all.len() > 1 || !kernel.group_ops.is_empty()
}

/// Bytes of one lane's memory, if lanes wait for each other.
pub fn lane_stride(kernel: &Kernel, carried: &Carried) -> u32 {
    let state = if kernel.group_ops.is_empty() { 0 } else { 8 };
    kernel.frame_size + carried.size() + state
}

/// Flags of accesses to private memory.
fn own() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// Flags of loads from the context, which does not change while code runs.
pub(super) fn fixed() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

pub(super) fn clif(ty: Ty) -> ir::Type {
    match ty {
        Ty::Bool => types::I8,
        Ty::I32 => types::I32,
        Ty::I64 => types::I64,
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
    }
}
