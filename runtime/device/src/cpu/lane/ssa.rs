//! SSA construction: every [`Op::Get`] becomes the value of the last [`Op::Set`], with block parameters where
//! several reach it.
//!
//! Parameters are at the iterated dominance frontier of the sets, where the local is still live (Cytron and
//! others, "Efficiently Computing Static Single Assignment Form"). A local that was never set is zero.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Block, BlockId, Def, Kernel, Local, Op, Value, ValueInfo};
use crate::cpu::module::flow::Flow;

/// Limit of block parameters in a kernel; each needs memory at every edge to its block.
const MAX_PARAMS: usize = 200_000;
/// Limit of steps to place them.
const MAX_STEPS: usize = 1 << 24;

/// The kernel would need too many block parameters.
#[derive(Debug)]
pub struct TooMany;

pub fn promote_locals(kernel: &mut Kernel) -> Result<(), TooMany> {
    if kernel.locals.is_empty() {
        return Ok(());
    }
    let successors: Vec<Vec<usize>> = kernel
        .blocks
        .iter()
        .map(|block| block.end.successors().iter().map(|to| to.0 as usize).collect())
        .collect();
    let flow = Flow::new(&successors);
    let params = add_params(kernel, &successors, &flow)?;
    Renaming {
        current: vec![None; kernel.locals.len()],
        replaced: FxHashMap::default(),
        params,
        zeros: FxHashMap::default(),
        kernel,
    }
    .walk(&flow);
    kernel.locals.clear();
    Ok(())
}

/// The locals for which each block gets parameters, in the same order.
type Params = Vec<Vec<Local>>;

fn add_params(kernel: &mut Kernel, successors: &[Vec<usize>], flow: &Flow) -> Result<Params, TooMany> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for &from in &flow.order {
        for &to in &successors[from] {
            predecessors[to].push(from);
        }
    }
    let frontiers = frontiers(&predecessors, flow)?;
    let uses = Uses::of(kernel, flow);
    let mut params = vec![Vec::new(); successors.len()];
    let (mut n_params, mut n_steps) = (0, 0);
    for (local, (sets, reads)) in uses.sets.iter().zip(&uses.reads).enumerate() {
        let local = Local(local as u32);
        let live = live_blocks(reads, sets, &predecessors);
        let mut open: Vec<usize> = sets.iter().copied().collect();
        let mut placed = FxHashSet::default();
        while let Some(block) = open.pop() {
            for &join in &frontiers[block] {
                if live.contains(&join) && placed.insert(join) {
                    open.push(join);
                    add_param(kernel, join, local);
                    params[join].push(local);
                }
            }
        }
        n_params += placed.len();
        n_steps += live.len();
        if n_params > MAX_PARAMS || n_steps > MAX_STEPS {
            return Err(TooMany);
        }
    }
    Ok(params)
}

fn add_param(kernel: &mut Kernel, block: usize, local: Local) {
    let ty = kernel.locals[local.0 as usize];
    kernel.values.push(ValueInfo { ty, def: Def::Param(BlockId(block as u32)) });
    let value = Value(kernel.values.len() as u32 - 1);
    kernel.blocks[block].params.push(value);
}

/// Blocks that set each local, and blocks that read it before they set it.
struct Uses {
    sets: Vec<FxHashSet<usize>>,
    reads: Vec<FxHashSet<usize>>,
}

impl Uses {
    fn of(kernel: &Kernel, flow: &Flow) -> Uses {
        let none = vec![FxHashSet::default(); kernel.locals.len()];
        let mut uses = Uses { sets: none.clone(), reads: none };
        for &block in &flow.order {
            for inst in &kernel.blocks[block].insts {
                match inst.op {
                    Op::Set(local, _) => {
                        uses.sets[local.0 as usize].insert(block);
                    }
                    Op::Get(local) if !uses.sets[local.0 as usize].contains(&block) => {
                        uses.reads[local.0 as usize].insert(block);
                    }
                    _ => {}
                }
            }
        }
        uses
    }
}

/// Blocks at whose start a local is live.
fn live_blocks(
    reads: &FxHashSet<usize>,
    sets: &FxHashSet<usize>,
    predecessors: &[Vec<usize>],
) -> FxHashSet<usize> {
    let mut live = FxHashSet::default();
    let mut open: Vec<usize> = reads.iter().copied().collect();
    while let Some(block) = open.pop() {
        if live.insert(block) {
            open.extend(predecessors[block].iter().filter(|from| !sets.contains(from)));
        }
    }
    live
}

/// The dominance frontier of each block.
fn frontiers(predecessors: &[Vec<usize>], flow: &Flow) -> Result<Vec<Vec<usize>>, TooMany> {
    let mut frontiers = vec![Vec::new(); predecessors.len()];
    let mut n_steps = 0;
    for &join in flow.order.iter().filter(|&&block| predecessors[block].len() > 1) {
        for &from in &predecessors[join] {
            let mut runner = from;
            while runner != flow.idom(join) {
                if frontiers[runner].last() != Some(&join) {
                    frontiers[runner].push(join);
                }
                runner = flow.idom(runner);
                n_steps += 1;
            }
        }
        if n_steps > MAX_STEPS {
            return Err(TooMany);
        }
    }
    Ok(frontiers)
}

struct Renaming<'k> {
    kernel: &'k mut Kernel,
    params: Params,
    /// The current value of each local.
    current: Vec<Option<Value>>,
    /// The value that replaces the result of each `Get`.
    replaced: FxHashMap<Value, Value>,
    zeros: FxHashMap<super::Ty, Value>,
}

impl Renaming<'_> {
    /// Walks the dominator tree; the sets of a subtree are undone after it.
    fn walk(&mut self, flow: &Flow) {
        let mut stack = vec![(0, 0, self.block(0))];
        while let Some((block, next, undo)) = stack.last_mut() {
            match flow.children(*block).get(*next) {
                Some(&child) => {
                    *next += 1;
                    let undo = self.block(child);
                    stack.push((child, 0, undo));
                }
                None => {
                    for (local, before) in std::mem::take(undo).into_iter().rev() {
                        self.current[local.0 as usize] = before;
                    }
                    stack.pop();
                }
            }
        }
    }

    /// Renames one block. Returns the previous values of the locals that it sets.
    fn block(&mut self, id: usize) -> Vec<(Local, Option<Value>)> {
        let mut undo = Vec::new();
        let mut block = std::mem::take(&mut self.kernel.blocks[id]);
        let first = block.params.len() - self.params[id].len();
        for i in 0..self.params[id].len() {
            self.set(self.params[id][i], block.params[first + i], &mut undo);
        }
        self.insts(&mut block, &mut undo);
        block.end.each_use(&mut |value| resolve(&self.replaced, value));
        for edge in block.end.edges_mut() {
            for i in 0..self.params[edge.to.0 as usize].len() {
                let local = self.params[edge.to.0 as usize][i];
                let value = self.get(local);
                edge.args.push(value);
            }
        }
        self.kernel.blocks[id] = block;
        undo
    }

    fn insts(&mut self, block: &mut Block, undo: &mut Vec<(Local, Option<Value>)>) {
        block.insts.retain_mut(|inst| {
            inst.op.each_use(&mut |value| resolve(&self.replaced, value));
            match inst.op {
                Op::Set(local, value) => self.set(local, value, undo),
                Op::Get(local) => {
                    let value = self.get(local);
                    self.replaced.insert(inst.result.expect("a read has a result"), value);
                }
                _ => return true,
            }
            false
        });
    }

    fn set(&mut self, local: Local, value: Value, undo: &mut Vec<(Local, Option<Value>)>) {
        let before = self.current[local.0 as usize].replace(value);
        undo.push((local, before));
    }

    fn get(&mut self, local: Local) -> Value {
        let ty = self.kernel.locals[local.0 as usize];
        self.current[local.0 as usize].unwrap_or_else(|| {
            *self.zeros.entry(ty).or_insert_with(|| {
                self.kernel.values.push(ValueInfo { ty, def: Def::Const(0) });
                Value(self.kernel.values.len() as u32 - 1)
            })
        })
    }
}

fn resolve(replaced: &FxHashMap<Value, Value>, value: &mut Value) {
    if let Some(&other) = replaced.get(value) {
        *value = other;
    }
}
