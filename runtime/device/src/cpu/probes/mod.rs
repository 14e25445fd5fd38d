//! What is watched while a kernel runs. A pass, or lowering itself, puts [`Op::Probe`](super::lane::Op::Probe)s
//! into the lane IR, each with a number; [`Kernel::probes`](super::lane::Kernel::probes) says what the numbers
//! stand for. Compiled code tells an [`Observer`] of each probe that it reaches, and the dispatch tells it where
//! workgroups and the parts of them between barriers begin. Findings come out.
//!
//! Observers change nothing: a kernel with probes has the results of the same kernel without.
//! A watched dispatch runs on one thread.

pub mod checked;

use std::sync::Arc;

use super::lane::Kernel;
use super::module::{Line, Module};
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
}

/// The sites of a loaded pipeline, by the numbers of their probes.
pub type Sites = Arc<[ProbeSite<Option<SourceLine>>]>;

/// Looks at what probes tell, for one dispatch.
pub trait Observer: Send {
    /// A lane came to a probe, with these bits: ints and booleans zero-extended, floats of 32 bits as they are.
    fn reached(&mut self, probe: u32, invocation: Invocation, values: &[u64]);

    /// What was found in all of the dispatch.
    fn findings(&mut self) -> Vec<Finding>;
}

/// The observer that the code of a dispatch reaches through its context.
pub struct Observation {
    pub observer: Box<dyn Observer>,
    pub local_size: [u32; 3],
}

pub fn sites(kernel: &Kernel, module: &Module<'_>) -> Sites {
    let site = |site: &ProbeSite| ProbeSite { kind: site.kind.clone(), line: module.line(site.line) };
    kernel.probes.iter().map(site).collect()
}

/// Who watches a dispatch of a pipeline; `None` where nobody does.
pub fn observation(instrument: &Instrument, sites: &Sites, local_size: [u32; 3]) -> Option<Observation> {
    let observer: Box<dyn Observer> = match instrument {
        Instrument::None => return None,
        Instrument::Checked(_) => Box::new(checked::Checker::new(sites.clone())),
    };
    Some(Observation { observer, local_size })
}
