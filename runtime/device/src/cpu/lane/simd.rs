//! Plans how a kernel runs in SIMD groups: neighbouring lanes of a row that share an instruction stream.
//!
//! The blocks of a region have an [`Order`]. Where lanes diverge, those of one edge run on, and the others
//! wait at the target of their edge (the edge is *deferred*). Running lanes never pass a block where others
//! wait. The [`Step`]s after each block are the later blocks that may have waiting lanes. So at a block that
//! every path leads through, all lanes have reconverged, and no lane runs a block twice.
//!
//! A value is [`Shape::Uniform`] or linear if it is so for all lanes that are active at its definition. A
//! value that is defined inside a loop that lanes leave at different times, and used after the loop, is
//! varying: each lane stores what it had when it left.

use rustc_hash::{FxHashMap, FxHashSet};

use super::frames::{self, is_own};
use super::order::{Loop, Order, order};
use super::regions::{Carried, Regions};
use super::shapes::{Shape, Shapes};
use super::{Address, BlockId, Def, Kernel, Op, Space, Terminator, Value};

pub struct Plan {
    /// Lanes of a SIMD group.
    pub width: u32,
    pub across: Across,
    /// Bytes of the granules in which the lanes' memory is interleaved.
    pub granule: u32,
    pub shapes: Vec<Shape>,
    pub regions: Vec<RegionPlan>,
    /// Whether the outer loop runs over rows of lanes, and the inner one over workgroups.
    pub along_rows: bool,
}

/// The meaning of neighbouring lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Lanes of a workgroup along x.
    Row,
    /// Workgroups of a single lane along x.
    Groups,
}

pub struct RegionPlan {
    pub order: Order,
    pub places: FxHashMap<BlockId, usize>,
    /// By block and edge: whether lanes wait at the edge's target.
    pub deferred: Vec<Vec<bool>>,
    /// Blocks where lanes may wait.
    pub joins: Vec<bool>,
    /// Blocks that all lanes of a SIMD group reach together, or none.
    pub converged: Vec<bool>,
    /// Where to look for waiting lanes after each block.
    pub steps: Vec<Vec<Step>>,
    /// Loops that lanes leave at different times.
    pub ragged: Vec<bool>,
    /// Blocks at whose end lanes may take different edges.
    pub forks: Vec<bool>,
    /// By block: the forks at which lanes there may have diverged without reconverging since.
    diverged_at: Vec<Blocks>,
}

/// A set of blocks as a bitmap.
type Blocks = Vec<u64>;

/// A place where lanes may wait. Steps are in order, and the first with any lanes is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// All lanes are here.
    Enter(usize),
    /// Some lanes may be here.
    Test(usize),
    /// Some lanes may be at the head of a loop that is being left.
    Back(usize),
}

/// Kernels with more instructions run in scalar code, which is smaller and compiles faster.
const MAX_INSTS: usize = 6000;
const MAX_ROUNDS: usize = 60;

/// Possible widths of SIMD groups.
const WIDTHS: [u32; 3] = [MAX_WIDTH, 8, 4];
/// Maximum width of a SIMD group.
pub const MAX_WIDTH: u32 = 16;
/// Lanes of one vector.
const LANES: u32 = 4;
/// Limit of live vectors in loops: a few more than there are registers.
const MAX_LIVE: u32 = 18;
/// Limit of vector operations in a kernel; more would take long to compile.
const MAX_OPERATIONS: usize = 1200;

/// The plan for a kernel; `None` if it cannot run in SIMD groups.
pub fn choose(kernel: &Kernel, regions: &Regions, carried: &Carried) -> Option<Plan> {
    let alone = kernel.local_size == [1; 3] && kernel.shared_size == 0 && regions.all.len() == 1;
    let across = if alone { Across::Groups } else { Across::Row };
    let least = if has_subgroup_ops(kernel) { kernel.subgroup_size } else { LANES };
    let fits = |width: u32| width >= least && (alone || kernel.local_size[0].is_multiple_of(width));
    if !fits(least) {
        return None;
    }
    let mut plan = plan(kernel, regions, carried, across)?;
    let n_live = plan.regions.iter().map(|region| region.n_live(kernel, carried, &plan.shapes)).max();
    let n_live = n_live.unwrap_or(0) as u32;
    let n_operations = plan.shapes.iter().filter(|shape| **shape == Shape::Varying).count();
    let pays = |width: u32| {
        let n_vectors = width / LANES;
        n_live * n_vectors <= MAX_LIVE && n_operations * n_vectors as usize <= MAX_OPERATIONS
    };
    let fitting = WIDTHS.into_iter().filter(|&width| fits(width));
    plan.width = fitting.clone().find(|&width| pays(width)).unwrap_or(least);
    Some(plan)
}

/// Whether the kernel has subgroup operations. Its SIMD groups then consist of whole subgroups.
fn has_subgroup_ops(kernel: &Kernel) -> bool {
    kernel.blocks.iter().flat_map(|block| &block.insts).any(|inst| matches!(inst.op, Op::Subgroup(_)))
}

fn plan(kernel: &Kernel, regions: &Regions, carried: &Carried, across: Across) -> Option<Plan> {
    if !is_known(kernel) {
        return None;
    }
    let granule = frames::granule(kernel)?;
    let mut plans = Vec::new();
    for region in &regions.all {
        plans.push(RegionPlan::new(order(kernel, region)?));
    }
    let mut shapes = Shapes::new(kernel, across);
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for plan in &mut plans {
            plan.find_divergence(kernel, &shapes);
            changed |= plan.note_params(kernel, &mut shapes);
            changed |= plan.note_exits(kernel, carried, &mut shapes);
            changed |= plan.note_results(kernel, &mut shapes);
        }
        if !changed {
            return finish(kernel, across, granule, shapes, plans);
        }
    }
    None
}

fn finish(
    kernel: &Kernel,
    across: Across,
    granule: u32,
    shapes: Shapes<'_>,
    mut regions: Vec<RegionPlan>,
) -> Option<Plan> {
    for plan in &mut regions {
        plan.steps = (0..plan.order.len()).map(|block| plan.steps_behind(block)).collect();
        if !plan.ends_converged(kernel) {
            return None;
        }
    }
    // Unreachable code has no shape, and nothing uses it.
    let shapes: Vec<Shape> = shapes.known.iter().map(|shape| shape.unwrap_or(Shape::Varying)).collect();
    let along_rows = across == Across::Row && may_run_along_rows(kernel, &regions, &shapes);
    Some(Plan { width: LANES, across, granule, shapes, regions, along_rows })
}

/// Whether each lane accesses only its own elements of rows, and only once. Then a row of lanes is contiguous
/// memory, and the rows below it reuse none of it. The kernel must not be instrumented, because workgroups
/// run at once.
fn may_run_along_rows(kernel: &Kernel, regions: &[RegionPlan], shapes: &[Shape]) -> bool {
    let [region] = regions else { return false };
    let is_row = |address: &Address| match address.dynamic.map(|dynamic| shapes[dynamic.0 as usize]) {
        None | Some(Shape::Uniform) => true,
        Some(Shape::Linear { stride, .. }) => stride == i64::from(address.size),
        Some(Shape::Varying) => false,
    };
    let in_rows = |op: &Op| match op {
        Op::Address(address) => is_own(address) || is_row(address),
        Op::Image { .. } | Op::Texel { .. } => false,
        _ => true,
    };
    let mut insts = region.order.blocks.iter().flat_map(|block| &kernel.blocks[block.0 as usize].insts);
    let free = kernel.shared_size == 0 && kernel.sites.is_empty() && region.order.loops.is_empty();
    free && insts.all(|inst| in_rows(&inst.op))
}

/// Whether SIMD code supports everything in the kernel.
fn is_known(kernel: &Kernel) -> bool {
    let n_insts: usize = kernel.blocks.iter().map(|block| block.insts.len()).sum();
    n_insts <= MAX_INSTS
        && kernel.group_ops.is_empty()
        && kernel.blocks.iter().all(|block| {
            let addresses: FxHashSet<Value> = block
                .insts
                .iter()
                .filter(|inst| matches!(inst.op, Op::Address(_) | Op::Texel { .. }))
                .filter_map(|inst| inst.result)
                .collect();
            block.insts.iter().all(|inst| match &inst.op {
                Op::Address(address) => address.space != Space::Device,
                Op::Load { address, .. }
                | Op::Store { address, .. }
                | Op::LoadNarrow { address, .. }
                | Op::StoreNarrow { address, .. }
                | Op::AtomicLoad { address, .. }
                | Op::Atomic { address, .. }
                | Op::CompareExchange { address, .. }
                | Op::Image { texel: address, .. } => addresses.contains(address),
                Op::AtomicHalf { .. } => false,
                _ => true,
            })
        })
}

impl RegionPlan {
    fn new(order: Order) -> RegionPlan {
        let n = order.len();
        RegionPlan {
            places: order.blocks.iter().enumerate().map(|(place, &block)| (block, place)).collect(),
            deferred: order.successors.iter().map(|edges| vec![false; edges.len()]).collect(),
            joins: vec![false; n],
            converged: vec![true; n],
            steps: Vec::new(),
            ragged: vec![false; order.loops.len()],
            forks: vec![false; n],
            diverged_at: vec![vec![0; n.div_ceil(64)]; n],
            order,
        }
    }

    /// Finds where lanes diverge, from the shapes of conditions known so far.
    fn find_divergence(&mut self, kernel: &Kernel, shapes: &Shapes<'_>) {
        for block in 0..self.order.len() {
            if !self.forks[block] && self.is_fork(kernel, shapes, block) {
                self.forks[block] = true;
                let (word, bit) = (block / 64, 1 << (block % 64));
                self.diverged_at[block][word] |= bit;
                for influenced in self.order.influence(block) {
                    self.converged[influenced] = false;
                    self.diverged_at[influenced][word] |= bit;
                }
            }
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for from in 0..self.order.len() {
                for edge in 0..self.deferred[from].len() {
                    if !self.deferred[from][edge] && !self.may_go(from, edge) {
                        self.deferred[from][edge] = true;
                        self.joins[self.order.successors[from][edge]] = true;
                        changed = true;
                    }
                }
            }
        }
        for (i, found) in self.order.loops.iter().enumerate() {
            let leaves = |from: usize| self.order.successors[from].iter().any(|&to| !found.contains(to));
            let mut blocks = found.head..=found.last;
            self.ragged[i] |= blocks.any(|from| leaves(from) && self.defers_at(from));
        }
    }

    /// Whether all lanes of a SIMD group continue with the same region, or all end. Lanes that end while
    /// others wait at a barrier would be a divergence to report.
    fn ends_converged(&self, kernel: &Kernel) -> bool {
        let mut blocks = 0..self.order.len();
        let alone = |block: usize| !self.converged[block] && self.order.successors[block].is_empty();
        let waits = |block: usize| self.terminator(kernel, block).waits().is_some();
        !blocks.clone().any(waits) || !blocks.any(alone)
    }

    /// Whether lanes may take different edges at the end of a block.
    fn is_fork(&self, kernel: &Kernel, shapes: &Shapes<'_>, block: usize) -> bool {
        match &self.terminator(kernel, block) {
            Terminator::Branch { condition: value, .. } | Terminator::Switch { value, .. } => {
                shapes.get(*value).is_some_and(|shape| shape != Shape::Uniform)
            }
            _ => false,
        }
    }

    /// Whether some lanes wait at another block when a block was left.
    fn defers_at(&self, block: usize) -> bool {
        self.deferred[block].contains(&true)
    }

    pub fn terminator<'k>(&self, kernel: &'k Kernel, block: usize) -> &'k Terminator {
        &kernel.blocks[self.order.blocks[block].0 as usize].end
    }

    /// Whether this edge alone leads to the next block, and no other lane can wait there.
    fn is_next(&self, from: usize, edge: usize) -> bool {
        let edges = &self.order.successors[from];
        let to = edges[edge];
        let alone = edges.iter().filter(|&&other| other == to).count() == 1;
        to == from + 1 && alone && !self.joins[to] && !self.converged[to]
    }

    /// Whether lanes that take an edge pass no block where others may wait. Of a fork's edges, only one to
    /// the next block qualifies.
    fn may_go(&self, from: usize, edge: usize) -> bool {
        if self.forks[from] && !self.is_next(from, edge) {
            return false;
        }
        let to = self.order.successors[from][edge];
        let loops = &self.order.loops_of[from];
        let (left, after) = if to > from {
            let stays = loops.iter().position(|&found| self.order.loops[found].contains(to));
            (stays.unwrap_or(loops.len()), to)
        } else {
            // A back edge leaves the loops inside the one that it closes, and the rest of that loop.
            let closes = loops.iter().position(|&found| self.order.loops[found].head == to);
            let closes = closes.expect("an edge back closes a loop");
            (closes, self.order.loops[loops[closes]].last + 1)
        };
        !loops[..left].iter().any(|&found| self.waits_back(found, from))
            && !(from + 1..after).any(|block| self.may_wait(block, from))
    }

    /// Whether lanes may wait at the head of a loop while others in the loop are at the end of `now`.
    fn waits_back(&self, found: usize, now: usize) -> bool {
        let Loop { head, last } = self.order.loops[found];
        (head..=last).any(|from| {
            self.edges_to(from, head).any(|edge| self.deferred[from][edge])
                && self.may_have_diverged(from, now)
        })
    }

    fn edges_to(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let edges = &self.order.successors[from];
        (0..edges.len()).filter(move |&edge| edges[edge] == to)
    }

    /// Whether lanes may wait at a later block while others are at the end of `now`. They may have reached it
    /// on a path that bypasses `now`, or in an earlier iteration of a loop.
    fn may_wait(&self, block: usize, now: usize) -> bool {
        let order = &self.order;
        self.joins[block]
            && (0..block).any(|from| {
                let again = || {
                    let mut both = order.loops_of[now].iter().map(|&found| &order.loops[found]);
                    both.any(|found| found.contains(from) && !found.contains(block))
                };
                self.edges_to(from, block).any(|edge| self.deferred[from][edge])
                    && self.may_have_diverged(from, now)
                    && (from <= now || again())
            })
    }

    /// Whether some lanes may be at the end of one block while others are at the end of another.
    fn may_have_diverged(&self, a: usize, b: usize) -> bool {
        self.diverged_at[a].iter().zip(&self.diverged_at[b]).any(|(a, b)| a & b != 0)
    }

    fn steps_behind(&self, now: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = now + 1;
        let closing = self.order.loops_of[now].iter().copied().filter(|&found| self.waits_back(found, now));
        for found in closing.map(Some).chain([None]) {
            let end = found.map_or(self.order.len(), |found| self.order.loops[found].last + 1);
            for block in at..end {
                if self.may_wait(block, now) {
                    if self.converged[block] {
                        steps.push(Step::Enter(block));
                        return steps;
                    }
                    steps.push(Step::Test(block));
                }
            }
            at = at.max(end);
            if let Some(found) = found {
                let head = self.order.loops[found].head;
                if self.converged[head] {
                    steps.push(Step::Enter(head));
                    return steps;
                }
                steps.push(Step::Back(head));
            }
        }
        steps
    }

    /// Parameters of joins are varying; other parameters have the shape of their arguments.
    fn note_params(&self, kernel: &Kernel, shapes: &mut Shapes<'_>) -> bool {
        let mut changed = false;
        for from in 0..self.order.len() {
            for (edge, &to) in self.terminator(kernel, from).edges().iter().zip(&self.order.successors[from])
            {
                let params = &kernel.blocks[self.order.blocks[to].0 as usize].params;
                for (&param, &arg) in params.iter().zip(&edge.args) {
                    let shape = if self.joins[to] { Some(Shape::Varying) } else { shapes.get(arg) };
                    changed |= shape.is_some_and(|shape| shapes.add(param, shape.passed_on()));
                }
            }
        }
        changed
    }

    fn note_results(&self, kernel: &Kernel, shapes: &mut Shapes<'_>) -> bool {
        let mut changed = false;
        for block in &self.order.blocks {
            for inst in &kernel.blocks[block.0 as usize].insts {
                let Some(result) = inst.result else { continue };
                if let Some(shape) = shapes.of(&inst.op, result) {
                    changed |= shapes.add(result, shape);
                }
            }
        }
        changed
    }

    /// Values that leave a loop at different times in different lanes are varying. So are uses outside the
    /// defining block, if the shape is not exact.
    fn note_exits(&self, kernel: &Kernel, carried: &Carried, shapes: &mut Shapes<'_>) -> bool {
        let mut changed = false;
        self.each_use(kernel, carried, &mut |value, at| {
            let Some(shape) = shapes.get(value) else { return };
            // Outside the defining block, no operation can recompute single lanes of an inexact value.
            let leaves = shape.passed_on() != shape && self.home(kernel, value) != Some(at);
            if leaves || self.is_loop_exit_value(kernel, value, at) {
                changed |= shapes.add(value, Shape::Varying);
            }
        });
        changed
    }

    /// Whether a use is after a loop that the lanes left at different times with this value.
    pub fn is_loop_exit_value(&self, kernel: &Kernel, value: Value, at: usize) -> bool {
        let Some(home) = self.home(kernel, value) else { return false };
        let mut loops = self.order.loops_of[home].iter();
        loops.any(|&found| self.ragged[found] && !self.order.loops[found].contains(at))
    }

    /// The block that defines a value, if it is in this region.
    pub fn home(&self, kernel: &Kernel, value: Value) -> Option<usize> {
        match kernel.values[value.0 as usize].def {
            Def::Const(_) | Def::Builtin(_) => None,
            Def::Param(block) | Def::Inst(block) => self.places.get(&block).copied(),
        }
    }

    /// Maximum number of live varying values in loops.
    fn n_live(&self, kernel: &Kernel, carried: &Carried, shapes: &[Shape]) -> usize {
        let mut predecessors = vec![Vec::new(); self.order.len()];
        for (from, targets) in self.order.successors.iter().enumerate() {
            targets.iter().for_each(|&to| predecessors[to].push(from));
        }
        let mut live = vec![FxHashSet::default(); self.order.len()];
        self.each_use(kernel, carried, &mut |value, at| {
            if shapes[value.0 as usize] != Shape::Varying {
                return;
            }
            let home = self.home(kernel, value);
            let mut open = vec![at];
            while let Some(block) = open.pop() {
                if Some(block) != home && live[block].insert(value) {
                    open.extend(&predecessors[block]);
                }
            }
        });
        let in_loop = (0..self.order.len()).filter(|&block| !self.order.loops_of[block].is_empty());
        let n_live = in_loop.map(|block| {
            let params = &kernel.blocks[self.order.blocks[block].0 as usize].params;
            let own = params.iter().filter(|param| shapes[param.0 as usize] == Shape::Varying).count();
            live[block].len() + own + usize::from(!self.converged[block])
        });
        n_live.max().unwrap_or(0)
    }

    /// Calls `f` with each value used and the block that uses it.
    pub fn each_use(&self, kernel: &Kernel, carried: &Carried, f: &mut impl FnMut(Value, usize)) {
        for (place, block) in self.order.blocks.iter().enumerate() {
            let mut block = kernel.blocks[block.0 as usize].clone();
            for inst in &mut block.insts {
                inst.op.each_use(&mut |value| f(*value, place));
            }
            block.end.each_use(&mut |value| f(*value, place));
            if let Terminator::Barrier(after) = block.end {
                carried.live.get(&after).into_iter().flatten().for_each(|value| f(*value, place));
            }
        }
    }
}
