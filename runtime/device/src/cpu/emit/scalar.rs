//! One lane at a time: a function that runs a row of workgroups, lane after lane, x innermost.
//!
//! ```text
//! prologue    what is the same for every lane: bases, sizes, limits
//! groups      first_x .. end_x
//! lanes z, y, x
//! the kernel's blocks; an exit goes to the next lane
//! ```
//!
//! Loops of the kernel look at the interrupt flag where they go back.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Switch, Variable};
use rustc_hash::FxHashMap;

use super::address::Spaces;
use super::context::{Context, DONE};
use super::{LineTable, Target};
use crate::cpu::lane::regions::{Region, Regions};
use crate::cpu::lane::{BlockId, Builtin, Def, Edge, Kernel, Terminator, Ty, Value};
use crate::cpu::module::Line;

/// Makes the function's body. Gives the lines that it may be stopped at.
pub fn emit(
    kernel: &Kernel,
    regions: &Regions,
    target: Target,
    builder: FunctionBuilder<'_>,
    config: TargetFrontendConfig,
) -> Vec<Option<Line>> {
    let mut emitter = Emitter::new(kernel, target, builder);
    emitter.groups(&regions.all[0]);
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(config);
    emitter.lines.lines
}

pub(super) struct Emitter<'k, 'b> {
    pub kernel: &'k Kernel,
    pub target: Target,
    pub builder: FunctionBuilder<'b>,
    pub context: ir::Value,
    pub spaces: Spaces,
    /// Group and lane along each axis, in the current loops.
    group: [ir::Value; 3],
    lane: [ir::Value; 3],
    blocks: FxHashMap<BlockId, ir::Block>,
    values: Vec<Option<ir::Value>>,
    /// Constants and built-ins that the current block has made.
    ready: FxHashMap<Value, ir::Value>,
    pub locals: Vec<Variable>,
    /// Where a lane goes that has ended.
    next_lane: ir::Block,
    lines: LineTable,
    /// Blocks that leave the function at a line.
    stops: BTreeMap<usize, ir::Block>,
}

/// A counted loop that is open: its head, its counter and the block behind it.
struct Loop {
    head: ir::Block,
    counter: ir::Value,
    behind: ir::Block,
}

impl<'k, 'b> Emitter<'k, 'b> {
    fn new(kernel: &'k Kernel, target: Target, mut builder: FunctionBuilder<'b>) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [context, first_x, end_x, y, z] = *builder.block_params(entry) else {
            unreachable!("the signature has five parameters")
        };
        let spaces = Spaces::prologue(kernel, &mut builder, context);
        let next_lane = builder.create_block();
        let locals = kernel.locals.iter().map(|&ty| builder.declare_var(clif(ty))).collect();
        Emitter {
            kernel,
            target,
            context,
            spaces,
            group: [first_x, y, z],
            // Replaced when the loops are opened; until then it holds where the row ends.
            lane: [end_x; 3],
            blocks: FxHashMap::default(),
            values: vec![None; kernel.values.len()],
            ready: FxHashMap::default(),
            locals,
            next_lane,
            lines: LineTable::default(),
            stops: BTreeMap::new(),
            builder,
        }
    }

    fn groups(&mut self, region: &Region) {
        let (first, end) = (self.group[0], self.lane[0]);
        let groups = self.open_loop(first, end);
        self.group[0] = groups.counter;
        self.lanes(region);
        self.close_loop(groups);
        let done = self.builder.ins().iconst(types::I32, i64::from(DONE));
        self.builder.ins().return_(&[done]);
        self.stop_blocks();
    }

    /// The lanes of a workgroup run through a region.
    fn lanes(&mut self, region: &Region) {
        let mut loops = Vec::new();
        for axis in [2, 1, 0] {
            let zero = self.builder.ins().iconst(types::I32, 0);
            let n = self.kernel.local_size[axis];
            if n == 1 {
                self.lane[axis] = zero;
                continue;
            }
            let end = self.builder.ins().iconst(types::I32, i64::from(n));
            let opened = self.open_loop(zero, end);
            self.lane[axis] = opened.counter;
            loops.push(opened);
        }
        self.region(region);
        self.builder.switch_to_block(self.next_lane);
        while let Some(opened) = loops.pop() {
            self.close_loop(opened);
        }
    }

    /// Goes on inside a loop from `first` up to `end`, which may be empty.
    fn open_loop(&mut self, first: ir::Value, end: ir::Value) -> Loop {
        let [head, body, behind] = std::array::from_fn(|_| self.builder.create_block());
        let counter = self.builder.append_block_param(head, types::I32);
        self.builder.ins().jump(head, &[BlockArg::Value(first)]);
        self.builder.switch_to_block(head);
        let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, counter, end);
        self.builder.ins().brif(more, body, &[], behind, &[]);
        self.builder.switch_to_block(body);
        Loop { head, counter, behind }
    }

    fn close_loop(&mut self, opened: Loop) {
        let next = self.builder.ins().iadd_imm_s(opened.counter, 1);
        self.builder.ins().jump(opened.head, &[BlockArg::Value(next)]);
        self.builder.switch_to_block(opened.behind);
    }

    fn region(&mut self, region: &Region) {
        for &id in &region.blocks {
            let block = self.builder.create_block();
            for &param in &self.kernel.blocks[id.0 as usize].params {
                let ty = clif(self.kernel.values[param.0 as usize].ty);
                let value = self.builder.append_block_param(block, ty);
                self.values[param.0 as usize] = Some(value);
            }
            self.blocks.insert(id, block);
        }
        let entry = self.blocks[&region.entry];
        self.builder.ins().jump(entry, &[]);
        for &id in &region.blocks {
            self.block(region, id);
        }
    }

    fn block(&mut self, region: &Region, id: BlockId) {
        self.builder.switch_to_block(self.blocks[&id]);
        self.ready.clear();
        let kernel = self.kernel;
        let block = &kernel.blocks[id.0 as usize];
        for inst in &block.insts {
            let value = self.op(&inst.op);
            if let Some(result) = inst.result {
                self.values[result.0 as usize] = value;
            }
        }
        let goes_back = block.end.edges().iter().any(|edge| region.back_edges.contains(&(id, edge.to)));
        if goes_back {
            self.poll(block.line);
        }
        self.terminator(&block.end);
    }

    /// Leaves the function if the interrupt flag is up.
    fn poll(&mut self, line: Option<Line>) {
        let place = self.lines.place(line);
        let stop = *self.stops.entry(place).or_insert_with(|| self.builder.create_block());
        let offset = std::mem::offset_of!(Context, interrupt) as i32;
        let flag = self.builder.ins().load(types::I64, fixed(), self.context, offset);
        // An atomic load is never taken for one that was done before.
        let raised = self.builder.ins().atomic_load(types::I8, MemFlagsData::trusted(), flag);
        let go_on = self.builder.create_block();
        self.builder.ins().brif(raised, stop, &[], go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Fills the blocks that leave the function early.
    fn stop_blocks(&mut self) {
        for (place, stop) in std::mem::take(&mut self.stops) {
            self.builder.set_cold_block(stop);
            self.builder.switch_to_block(stop);
            let status = self.builder.ins().iconst(types::I32, -1 - place as i64);
            self.builder.ins().return_(&[status]);
        }
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Jump(edge) => {
                let args = self.args(edge);
                self.builder.ins().jump(self.blocks[&edge.to], &args);
            }
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.value(*condition);
                let (then_args, otherwise_args) = (self.args(then), self.args(otherwise));
                let (then, otherwise) = (self.blocks[&then.to], self.blocks[&otherwise.to]);
                self.builder.ins().brif(condition, then, &then_args, otherwise, &otherwise_args);
            }
            Terminator::Switch { value, cases, default } => self.switch(*value, cases, default),
            Terminator::Barrier(_) => unreachable!("kernels with barriers are refused before"),
            Terminator::Exit => {
                self.builder.ins().jump(self.next_lane, &[]);
            }
        }
    }

    fn switch(&mut self, value: Value, cases: &[(u64, Edge)], default: &Edge) {
        let value = self.value(value);
        // A table's targets take no arguments: each edge gets a block that does.
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

    fn builtin(&mut self, builtin: Builtin) -> ir::Value {
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

/// Flags of loads from the context, which stays as it is while code runs.
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
