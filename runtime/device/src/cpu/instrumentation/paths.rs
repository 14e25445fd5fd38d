//! The paths to instrumentation sites: their calls, where two of them diverge, and whether barriers separate
//! them.

use std::sync::OnceLock;

use crate::SourceLine;
use crate::cpu::lane::{Kernel, Op, Terminator};
use crate::cpu::module::flow::{Flow, NaturalLoop};
use crate::cpu::module::{Line, Module};

/// The path to each site, and its position in the control flow.
#[derive(Default)]
pub struct Paths {
    paths: Vec<Path>,
    /// The block of each site; `None` if it was removed.
    places: Vec<Option<usize>>,
    /// The successors of each block. The first block is the entry.
    next: Vec<Vec<usize>>,
    /// Whether each block ends with a barrier.
    barriers: Vec<bool>,
    /// Computed on first use.
    barrier_free: OnceLock<BarrierFreeFlow>,
}

/// Control flow between barriers.
struct BarrierFreeFlow {
    loops: Vec<NaturalLoop>,
    /// The predecessors of each block.
    previous: Vec<Vec<usize>>,
}

/// How invocations can reach two sites without a barrier between, after the same path so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsynchronised {
    /// In one iteration of the innermost loop around both, or outside of loops.
    pub in_one_round: bool,
    /// In different iterations of that loop.
    pub in_rounds: bool,
}

/// The lines of the calls, outermost first, then the site's own line. Empty without debug information.
type Path = Vec<Step>;

#[derive(Clone, Debug, PartialEq)]
struct Step {
    line: SourceLine,
    /// The call through which this line is reached.
    call: u32,
}

impl Paths {
    pub fn find(kernel: &Kernel, module: &Module<'_>) -> Paths {
        let next = |end: &Terminator| end.successors().iter().map(|block| block.0 as usize).collect();
        Paths {
            paths: kernel.sites.iter().map(|site| path(kernel, module, site.line)).collect(),
            places: places(kernel),
            next: kernel.blocks.iter().map(|block| next(&block.end)).collect(),
            barriers: kernel.blocks.iter().map(|block| matches!(block.end, Terminator::Barrier(_))).collect(),
            barrier_free: OnceLock::new(),
        }
    }

    /// How invocations can reach two sites without a barrier between.
    pub fn unsynchronised(&self, a: u32, b: u32) -> Unsynchronised {
        match [a, b].map(|site_id| self.places[site_id as usize]) {
            [Some(a), Some(b)] => {
                let flow = self.barrier_free.get_or_init(|| BarrierFreeFlow::of(&self.next, &self.barriers));
                flow.unsynchronised(a, b)
            }
            _ => Unsynchronised { in_one_round: true, in_rounds: false },
        }
    }

    /// The lines in one call of a function at which the paths to two sites diverge.
    pub fn divergence(&self, a: u32, b: u32) -> Option<[SourceLine; 2]> {
        let [a, b] = [a, b].map(|site_id| &self.paths[site_id as usize]);
        let depth = depth_of_divergence(a, b)?;
        Some([a, b].map(|path| path[depth].line.clone()))
    }

    /// The lines of the calls that lead to that function, outermost first.
    pub fn callers(&self, a: u32, b: u32) -> Vec<SourceLine> {
        let [a, b] = [a, b].map(|site_id| &self.paths[site_id as usize]);
        let depth = depth_of_divergence(a, b).unwrap_or(0);
        a[..depth].iter().map(|step| step.line.clone()).collect()
    }
}

impl BarrierFreeFlow {
    fn of(next: &[Vec<usize>], barriers: &[bool]) -> BarrierFreeFlow {
        let mut previous = vec![Vec::new(); next.len()];
        for (from, targets) in next.iter().enumerate().filter(|&(from, _)| !barriers[from]) {
            for &to in targets {
                previous[to].push(from);
            }
        }
        // External modules may have irreducible loops; then nothing is known about iterations.
        let loops = Flow::new(next).loops(next).unwrap_or_default();
        BarrierFreeFlow { loops, previous }
    }

    fn unsynchronised(&self, a: usize, b: usize) -> Unsynchronised {
        let around = self.loops.iter().filter(|around| around.blocks[a] && around.blocks[b]);
        let innermost = around.min_by_key(|around| around.blocks.iter().filter(|&&inside| inside).count());
        let head = innermost.map(|around| around.head);
        let [to_a, to_b] = [a, b].map(|block| self.leading_to(vec![block], head));
        let in_rounds = innermost.is_some_and(|around| {
            let last = self.previous[around.head].iter().copied().filter(|&from| around.blocks[from]);
            let to_next = self.leading_to(last.collect(), head);
            to_next[a] && to_b[around.head] || to_next[b] && to_a[around.head]
        });
        Unsynchronised { in_one_round: to_a.iter().zip(&to_b).any(|(a, b)| *a && *b), in_rounds }
    }

    /// Whether each block leads to one of these without a barrier, and without another iteration of the loop
    /// with this head.
    fn leading_to(&self, mut open: Vec<usize>, head: Option<usize>) -> Vec<bool> {
        let mut found = vec![false; self.previous.len()];
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut found[block], true) && Some(block) != head {
                open.extend(&self.previous[block]);
            }
        }
        found
    }
}

fn places(kernel: &Kernel) -> Vec<Option<usize>> {
    let mut places = vec![None; kernel.sites.len()];
    for (at, block) in kernel.blocks.iter().enumerate() {
        for inst in &block.insts {
            if let Op::Instrument { site_id, .. } = inst.op {
                places[site_id as usize] = Some(at);
            }
        }
    }
    places
}

fn path(kernel: &Kernel, module: &Module<'_>, line: Option<Line>) -> Path {
    let mut path = Path::new();
    let mut next = line;
    while let Some(line) = next {
        path.extend(module.line(Some(line)).map(|source| Step { line: source, call: line.call }));
        next = line.call.checked_sub(1).map(|call| kernel.calls[call as usize]);
    }
    path.reverse();
    path
}

/// How many calls the two paths share; `None` if one is unknown.
fn depth_of_divergence(a: &Path, b: &Path) -> Option<usize> {
    a.iter().zip(b).rposition(|(a, b)| a.call == b.call)
}
