//! By which calls control comes to a probe or a barrier, and where the ways to two of them part.

use crate::SourceLine;
use crate::cpu::lane::Kernel;
use crate::cpu::module::{Line, Module};

/// Of each probe the way to it, and that to each barrier.
pub struct Ways {
    probes: Vec<Way>,
    barriers: Vec<Way>,
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
        }
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
