//! What is watched while a kernel runs. A pass, or lowering itself, puts [`Op::Probe`](super::lane::Op::Probe)s
//! into the lane IR, each with a number; [`Kernel::probes`](super::lane::Kernel::probes) says what the numbers
//! stand for. Compiled code tells an [`Observer`] of each probe that it reaches, and the dispatch tells it where
//! workgroups and the parts of them between barriers begin. Findings come out.
//!
//! Observers change nothing: a kernel with probes has the results of the same kernel without.
//! A watched dispatch runs on one thread.

pub mod checked;
pub mod memory;
pub mod profile;
pub mod schedule;
mod shadow;

use std::sync::Arc;

use super::lane::{Array, Kernel};
use super::module::{Line, Module};
use crate::profile::LineCounts;
use crate::{Finding, Instrument, Invocation, SourceLine};

/// What one probe stands for, and its line in the kernel.
#[derive(Clone, Debug)]
pub struct ProbeSite<L = Option<Line>> {
    pub kind: SiteKind,
    pub line: L,
}

#[derive(Clone, Debug)]
pub enum SiteKind {
    Check(checked::Site),
    Profile(profile::Site),
}

/// The sites of a loaded pipeline, by the numbers of their probes, and what they may name.
#[derive(Clone)]
pub struct Sites {
    pub all: Arc<[ProbeSite<Option<SourceLine>>]>,
    pub arrays: Arc<[Array]>,
    /// Where the kernel has barriers.
    pub barriers: Arc<[SourceLine]>,
}

impl Sites {
    /// Whether a barrier stands on a line between these two.
    pub fn has_barrier_between(&self, a: Option<&SourceLine>, b: Option<&SourceLine>) -> bool {
        let (Some(a), Some(b)) = (a, b) else { return false };
        let lines = a.line.min(b.line)..a.line.max(b.line);
        self.barriers.iter().any(|barrier| barrier.file == a.file && lines.contains(&barrier.line))
    }
}

/// Looks at what probes tell, for one dispatch.
pub trait Observer: Send {
    /// A lane came to a probe, with these bits: ints and booleans zero-extended, floats of 32 bits as they are.
    fn reached(&mut self, probe: u32, invocation: Invocation, values: &[u64]);

    /// The dispatch is about to begin.
    fn begins(&mut self, _extent: Extent) {}

    /// The lanes of a workgroup that ran up to a barrier go on behind it.
    fn barrier_opens(&mut self) {}

    /// What was found in all of the dispatch.
    fn findings(&mut self) -> Vec<Finding>;

    /// What each line cost, where that was counted.
    fn costs(&mut self) -> Vec<LineCounts> {
        Vec::new()
    }
}

/// Where a dispatch has its memory, and how many workgroups it has.
pub struct Extent {
    pub groups: [u32; 3],
    pub buffers: Vec<Bytes>,
    pub shared: Bytes,
}

/// Memory by its address.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub start: u64,
    pub size: u64,
}

/// The observer that the code of a dispatch reaches through its context.
pub struct Observation {
    pub observer: Box<dyn Observer>,
    pub local_size: [u32; 3],
}

pub fn sites(kernel: &Kernel, module: &Module<'_>) -> Sites {
    let site = |site: &ProbeSite| ProbeSite { kind: site.kind.clone(), line: module.line(site.line) };
    let barriers = kernel.blocks.iter().filter(|block| block.end.waits().is_some());
    Sites {
        all: kernel.probes.iter().map(site).collect(),
        arrays: kernel.arrays.clone().into(),
        barriers: barriers.filter_map(|block| module.line(block.line)).collect(),
    }
}

/// Who watches a dispatch of a pipeline; `None` where nobody does.
pub fn observation(instrument: &Instrument, sites: &Sites, local_size: [u32; 3]) -> Option<Observation> {
    let observer: Box<dyn Observer> = match instrument {
        Instrument::None => return None,
        Instrument::Checked(checks) => Box::new(checked::Checker::new(*checks, sites.clone(), local_size)),
        Instrument::Profile => Box::new(profile::Profiler::new(sites.clone(), local_size)),
    };
    Some(Observation { observer, local_size })
}
