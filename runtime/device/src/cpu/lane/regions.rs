//! Cuts a kernel at its barriers. A region is what a lane does from the entry, or from behind a barrier, up
//! to the next barrier or its end: every lane of a workgroup runs through a region before any begins the
//! next (continuation-based synchronisation). Blocks that several regions reach belong to each of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{BlockId, Kernel, Terminator};
use crate::cpu::module::Line;
use crate::cpu::module::flow::Flow;

pub struct Region {
    /// Where a lane enters it.
    pub entry: BlockId,
    /// In reverse postorder, the entry first.
    pub blocks: Vec<BlockId>,
    /// Edges that close a loop.
    pub back_edges: FxHashSet<(BlockId, BlockId)>,
}

pub struct Regions {
    pub all: Vec<Region>,
    /// The region behind each barrier, by the block that follows it.
    pub by_entry: FxHashMap<BlockId, usize>,
}

/// The first region is that of the kernel's entry.
pub fn split(kernel: &Kernel) -> Regions {
    let mut regions = Regions { all: Vec::new(), by_entry: FxHashMap::default() };
    let mut entries = vec![kernel.entry];
    regions.by_entry.insert(kernel.entry, 0);
    let mut next = 0;
    while let Some(&entry) = entries.get(next) {
        next += 1;
        let region = region(kernel, entry);
        for &block in &region.blocks {
            if let Terminator::Barrier(behind) = kernel.blocks[block.0 as usize].end
                && !regions.by_entry.contains_key(&behind)
            {
                regions.by_entry.insert(behind, entries.len());
                entries.push(behind);
            }
        }
        regions.all.push(region);
    }
    regions
}

fn region(kernel: &Kernel, entry: BlockId) -> Region {
    // The graph's nodes are blocks in the order in which they are found.
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
    let mut back_edges = FxHashSet::default();
    for (from, targets) in successors.iter().enumerate() {
        let back = targets.iter().filter(|&&to| flow.is_back_edge(from, to));
        back_edges.extend(back.map(|&to| (blocks[from], blocks[to])));
    }
    Region { entry, blocks: flow.order.iter().map(|&node| blocks[node]).collect(), back_edges }
}

/// The line of the first barrier, if there is one.
pub fn barrier(kernel: &Kernel) -> Option<Option<Line>> {
    let mut blocks = kernel.blocks.iter();
    blocks.find(|block| matches!(block.end, Terminator::Barrier(_))).map(|block| block.line)
}
