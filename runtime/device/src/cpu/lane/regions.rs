//! Splits a kernel where lanes wait for each other. A region goes from the entry, or from a wait, to the next
//! wait or the end. All lanes that may run a region finish it before any begins the next (continuation-based
//! synchronisation). Blocks that several regions reach belong to each of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{BlockId, Def, Kernel, Value};
use crate::cpu::module::flow::Flow;

pub struct Region {
    /// The block at which lanes enter it.
    pub entry: BlockId,
    /// In reverse postorder, the entry first.
    pub blocks: Vec<BlockId>,
    /// Edges that close a loop.
    pub back_edges: FxHashSet<(BlockId, BlockId)>,
    /// Edges that leave a loop.
    pub exits: FxHashSet<(BlockId, BlockId)>,
}

pub struct Regions {
    pub all: Vec<Region>,
    /// The region after each wait, by the block that follows the wait.
    pub by_entry: FxHashMap<BlockId, usize>,
    /// The numbers of the regions in the kernel as it was loaded.
    pub numbers: Vec<usize>,
}

/// Limit of blocks in all regions together; shared blocks count once for each region.
const MAX_BLOCKS: usize = 40_000;
/// Limit of live values, summed over all blocks.
const MAX_LIVE: usize = 1 << 22;

/// The kernel has too many barriers for its size.
#[derive(Debug)]
pub struct TooMany;

/// The first region begins at the kernel's entry.
pub fn split(kernel: &Kernel) -> Result<Regions, TooMany> {
    let mut regions = Regions { all: Vec::new(), by_entry: FxHashMap::default(), numbers: Vec::new() };
    let mut entries = vec![kernel.entry];
    regions.by_entry.insert(kernel.entry, 0);
    let (mut next, mut n_blocks) = (0, 0);
    while let Some(&entry) = entries.get(next) {
        next += 1;
        let region = region(kernel, entry);
        for &block in &region.blocks {
            if let Some(after) = kernel.blocks[block.0 as usize].end.waits()
                && !regions.by_entry.contains_key(&after)
            {
                regions.by_entry.insert(after, entries.len());
                entries.push(after);
            }
        }
        n_blocks += region.blocks.len();
        if n_blocks > MAX_BLOCKS {
            return Err(TooMany);
        }
        regions.all.push(region);
    }
    regions.numbers = (0..regions.all.len()).collect();
    Ok(regions)
}

fn region(kernel: &Kernel, entry: BlockId) -> Region {
    // The graph's nodes are blocks in the order of their discovery.
    let mut blocks = vec![entry];
    let mut node_of = FxHashMap::default();
    node_of.insert(entry, 0);
    let mut successors: Vec<Vec<usize>> = Vec::new();
    while let Some(&block) = blocks.get(successors.len()) {
        let edges = kernel.blocks[block.0 as usize].end.edges();
        let targets = edges.iter().map(|edge| {
            *node_of.entry(edge.to).or_insert_with(|| {
                blocks.push(edge.to);
                blocks.len() - 1
            })
        });
        successors.push(targets.collect());
    }
    let flow = Flow::new(&successors);
    let named =
        |edges: Vec<(usize, usize)>| edges.iter().map(|&(from, to)| (blocks[from], blocks[to])).collect();
    let edges =
        successors.iter().enumerate().flat_map(|(from, targets)| targets.iter().map(move |&to| (from, to)));
    let back_edges: Vec<_> = edges.filter(|&(from, to)| flow.is_back_edge(from, to)).collect();
    Region {
        entry,
        blocks: flow.order.iter().map(|&node| blocks[node]).collect(),
        exits: named(exits(&successors, &back_edges)),
        back_edges: named(back_edges),
    }
}

/// The edges that leave the natural loop of a back edge.
fn exits(successors: &[Vec<usize>], back_edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (from, targets) in successors.iter().enumerate() {
        for &to in targets {
            predecessors[to].push(from);
        }
    }
    let mut exits = Vec::new();
    for &(latch, head) in back_edges {
        let mut inside: FxHashSet<usize> = [head, latch].into_iter().collect();
        let mut open = vec![latch];
        while let Some(node) = open.pop().filter(|&node| node != head) {
            open.extend(predecessors[node].iter().filter(|&&from| inside.insert(from)));
        }
        for &from in &inside {
            exits.extend(successors[from].iter().filter(|to| !inside.contains(to)).map(|&to| (from, to)));
        }
    }
    exits
}

/// Values that are live across waits, and their places in the lanes' memory.
#[derive(Default)]
pub struct Carried {
    /// Offset of each value after the lane's frame.
    pub offsets: FxHashMap<Value, u32>,
    /// The live values after each wait, by the block that follows it.
    pub live: FxHashMap<BlockId, Vec<Value>>,
}

impl Carried {
    /// Bytes for each lane.
    pub fn size(&self) -> u32 {
        8 * self.offsets.len() as u32
    }
}

/// Finds the values that are used after a wait, on any path from there.
pub fn carried(kernel: &Kernel, regions: &Regions) -> Result<Carried, TooMany> {
    let mut carried = Carried::default();
    if regions.all.len() < 2 {
        return Ok(carried);
    }
    let live = live_in(kernel)?;
    for region in &regions.all[1..] {
        let mut values: Vec<Value> = live[region.entry.0 as usize].iter().copied().collect();
        values.sort();
        for &value in &values {
            let offset = 8 * carried.offsets.len() as u32;
            carried.offsets.entry(value).or_insert(offset);
        }
        carried.live.insert(region.entry, values);
    }
    Ok(carried)
}

/// The values that are live at the start of each block.
fn live_in(kernel: &Kernel) -> Result<Vec<FxHashSet<Value>>, TooMany> {
    let mut predecessors = vec![Vec::new(); kernel.blocks.len()];
    for (i, block) in kernel.blocks.iter().enumerate() {
        for to in block.end.successors() {
            predecessors[to.0 as usize].push(i);
        }
    }
    let live = vec![FxHashSet::default(); kernel.blocks.len()];
    let mut liveness = Liveness { kernel, predecessors, live, n_live: 0 };
    for (i, block) in kernel.blocks.iter().enumerate() {
        let mut block = block.clone();
        let mut note = |value: &mut Value| liveness.carry_back(*value, i);
        for inst in &mut block.insts {
            inst.op.each_use(&mut note);
        }
        block.end.each_use(&mut note);
        if liveness.n_live > MAX_LIVE {
            return Err(TooMany);
        }
    }
    Ok(liveness.live)
}

struct Liveness<'k> {
    kernel: &'k Kernel,
    predecessors: Vec<Vec<usize>>,
    live: Vec<FxHashSet<Value>>,
    n_live: usize,
}

impl Liveness<'_> {
    /// Marks a value as live from a use back to its definition.
    fn carry_back(&mut self, value: Value, used_in: usize) {
        let home = match self.kernel.values[value.0 as usize].def {
            Def::Const(_) | Def::Builtin(_) => return,
            Def::Param(block) | Def::Inst(block) => block.0 as usize,
        };
        let mut open = vec![used_in];
        while let Some(block) = open.pop() {
            if block != home && self.live[block].insert(value) {
                self.n_live += 1;
                open.extend(&self.predecessors[block]);
            }
        }
    }
}
