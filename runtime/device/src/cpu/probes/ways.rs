//! By which calls control comes to a probe or a barrier, where the ways to two of them part, and whether control comes
//! back from one to the other.

use crate::SourceLine;
use crate::cpu::lane::{Kernel, Op, Terminator};
use crate::cpu::module::{Line, Module};

/// Of each probe the way to it, and that to each barrier.
pub struct Ways {
    probes: Vec<Way>,
    barriers: Vec<Way>,
    /// The block that each probe stands in; `None` where the code has it no more.
    places: Vec<Option<usize>>,
    /// Where control goes on from each block without a barrier.
    next: Vec<Vec<usize>>,
}

/// The lines of the calls, the outermost first, and in the end its own. Empty where the module tells no lines.
type Way = Vec<Step>;

#[derive(Clone, Debug, PartialEq)]
struct Step {
    line: SourceLine,
    /// The call that this line is reached by.
    call: u32,
}

impl Ways {
    pub fn find(kernel: &Kernel, module: &Module<'_>) -> Ways {
        let way = |line| way(kernel, module, line);
        let barriers = kernel.blocks.iter().filter(|block| block.end.waits().is_some());
        Ways {
            probes: kernel.probes.iter().map(|probe| way(probe.line)).collect(),
            barriers: barriers.map(|block| way(block.line)).collect(),
            places: places(kernel),
            next: kernel.blocks.iter().map(|block| next(&block.end)).collect(),
        }
    }

    /// Whether control comes from one probe to the other without a barrier: if they stand the other way round, in the
    /// next round of a loop.
    pub fn leads(&self, from: u32, to: u32) -> bool {
        let [Some(from), Some(to)] = [from, to].map(|probe| self.places[probe as usize]) else {
            return false;
        };
        let mut seen = vec![false; self.next.len()];
        let mut open = self.next[from].clone();
        while let Some(block) = open.pop() {
            if block == to {
                return true;
            }
            if !std::mem::replace(&mut seen[block], true) {
                open.extend(&self.next[block]);
            }
        }
        false
    }

    /// The lines of one function, in one call of it, at which the ways to two probes part.
    pub fn parting(&self, a: u32, b: u32) -> Option<[SourceLine; 2]> {
        let [a, b] = [a, b].map(|probe| &self.probes[probe as usize]);
        let depth = depth_of_parting(a, b)?;
        Some([a, b].map(|way| way[depth].line.clone()))
    }

    /// Whether a barrier stands, or is called, on a line between those at which the ways to two probes part.
    pub fn has_barrier_between(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|probe| &self.probes[probe as usize]);
        let Some(depth) = depth_of_parting(a, b) else { return false };
        let (a, b) = (&a[depth], &b[depth]);
        let lines = a.line.line.min(b.line.line)..a.line.line.max(b.line.line);
        self.barriers.iter().filter_map(|way| way.get(depth)).any(|barrier| {
            let is_there = barrier.call == a.call && barrier.line.file == a.line.file;
            is_there && lines.contains(&barrier.line.line)
        })
    }
}

fn places(kernel: &Kernel) -> Vec<Option<usize>> {
    let mut places = vec![None; kernel.probes.len()];
    for (at, block) in kernel.blocks.iter().enumerate() {
        for inst in &block.insts {
            if let Op::Probe { probe, .. } = inst.op {
                places[probe as usize] = Some(at);
            }
        }
    }
    places
}

fn next(end: &Terminator) -> Vec<usize> {
    match end {
        Terminator::Barrier(_) => Vec::new(),
        end => end.successors().into_iter().map(|block| block.0 as usize).collect(),
    }
}

fn way(kernel: &Kernel, module: &Module<'_>, line: Option<Line>) -> Way {
    let mut way = Way::new();
    let mut next = line;
    while let Some(line) = next {
        way.extend(module.line(Some(line)).map(|source| Step { line: source, call: line.call }));
        next = line.call.checked_sub(1).map(|call| kernel.calls[call as usize]);
    }
    way.reverse();
    way
}

/// How many calls the two have in common; `None` where nothing is known of one of them.
fn depth_of_parting(a: &Way, b: &Way) -> Option<usize> {
    a.iter().zip(b).rposition(|(a, b)| a.call == b.call)
}
