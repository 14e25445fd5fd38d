//! A submission with everything that it needs to run on any thread: checked commands whose buffers are
//! addresses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::buffers::Memory;
use super::dispatch::{INTERRUPTED_BETWEEN, Job};
use super::emit::context::{DONE, Stop};
use super::instrumentation::Written;
use super::pipeline::Pipeline;
use super::pool::Pool;
use super::repeated::ListId;
use crate::findings::Launch;
use crate::profile::{LineCounts, Recorder};
use crate::{
    Access, BufferId, Check, DeviceError, Finding, Instrument, PipelineId, Result, SourceLine, Ticket,
};

/// Bytes that a copy moves in a nanosecond.
const COPIED_PER_NANOSECOND: u64 = 8;
/// Maximum number of stored findings. Later ones are dropped.
const MAX_FINDINGS: usize = 4096;

#[derive(Default)]
pub struct Submission {
    pub ticket: Ticket,
    /// The submissions that it follows, with their queues.
    pub after: Vec<(usize, u64)>,
    pub steps: SmallVec<[Step; 1]>,
    /// The buffers that the steps name; empty until another submission runs at the same time.
    pub uses: Vec<(BufferId, Access)>,
    /// The memory that the steps access, for a submission that ends after `submit`.
    pub memory: Vec<Arc<Memory>>,
    pub timestamps: Vec<u64>,
    /// The list that it is kept for.
    pub list: Option<ListId>,
}

// SAFETY: the addresses are in `memory`, and submissions with accesses that conflict are ordered.
unsafe impl Send for Submission {}

/// A command, ready to run.
pub enum Step {
    Copy {
        from: *const u8,
        to: *mut u8,
        size: u64,
        /// Where some bytes are uninitialised: the marks of the source, and those of the target.
        marks: Option<(Option<Written>, Written)>,
    },
    Dispatch {
        id: PipelineId,
        pipeline: Arc<Pipeline>,
        groups: [u32; 3],
        /// `None` for an empty grid.
        job: Option<Arc<Job>>,
    },
    Timestamp,
}

/// What a submission left behind.
pub struct Outcome {
    pub result: Result<()>,
    pub timestamps: Vec<u64>,
    pub observed: Observed,
}

/// What instrumented dispatches found.
#[derive(Default)]
pub struct Observed {
    pub findings: Vec<Finding>,
    pub costs: Vec<Cost>,
}

/// The cost of a dispatch, for the profile.
pub struct Cost {
    pub kernel: String,
    pub invocations: u64,
    pub time: Duration,
    pub lines: Vec<LineCounts>,
}

impl Observed {
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.costs.is_empty()
    }

    /// Adds what another submission found, as far as there is room.
    pub fn add(&mut self, more: Observed) {
        let room = MAX_FINDINGS.saturating_sub(self.findings.len());
        self.findings.extend(more.findings.into_iter().take(room));
        self.costs.extend(more.costs);
    }
}

impl Cost {
    fn of(pipeline: &Pipeline, groups: [u32; 3], time: Duration, lines: Vec<LineCounts>) -> Cost {
        let sides = groups.iter().chain(&pipeline.interface.local_size);
        let invocations = sides.fold(1u64, |product, &n| product.saturating_mul(n.into()));
        Cost { kernel: pipeline.name(), invocations, time, lines }
    }

    pub fn record(self, recorder: &Recorder) {
        recorder.add(&self.kernel, self.invocations, self.time, self.lines);
    }
}

/// What every thread needs that runs submissions.
pub struct Runner {
    pub pool: Pool,
    pub interrupt: Arc<AtomicBool>,
    /// Zero of the timestamps.
    pub began: Instant,
}

impl Submission {
    /// Whether it takes no longer than so many nanoseconds on one thread, as far as that is known.
    pub fn is_shorter(&self, nanoseconds: u64) -> bool {
        let expected = |step: &Step| match step {
            Step::Copy { size, .. } => size / COPIED_PER_NANOSECOND,
            Step::Dispatch { pipeline, job, .. } => {
                job.as_ref().map_or(0, |job| pipeline.expected(job.n_groups()))
            }
            Step::Timestamp => 0,
        };
        let mut steps = self.steps.iter();
        steps.try_fold(nanoseconds, |left, step| left.checked_sub(expected(step))).is_some()
    }
}

impl Runner {
    /// Runs the steps in order, up to the first error.
    pub fn run(&self, submission: &mut Submission) -> Outcome {
        let mut observed = Observed::default();
        let mut timestamps = std::mem::take(&mut submission.timestamps);
        let mut n_dispatches = 0;
        let mut result = Ok(());
        for step in &mut submission.steps {
            if self.interrupt.load(Ordering::Relaxed) {
                result = Err(interrupted(None));
                break;
            }
            result = match step {
                Step::Copy { from, to, size, marks } => {
                    // SAFETY: both ranges were checked against their buffers, whose memory the submission
                    // owns.
                    unsafe { std::ptr::copy(*from, *to, *size as usize) };
                    if let Some((source, target)) = marks {
                        target.copy(0, source.as_ref(), *size);
                    }
                    Ok(())
                }
                Step::Dispatch { pipeline, groups, job, .. } => {
                    let n_before = observed.findings.len();
                    let result = match job {
                        Some(job) => self.dispatch(pipeline, *groups, job, &mut observed),
                        None => Ok(()),
                    };
                    for found in &mut observed.findings[n_before..] {
                        found.launch.submission = submission.ticket;
                        found.launch.dispatch = n_dispatches;
                    }
                    n_dispatches += 1;
                    result
                }
                Step::Timestamp => {
                    timestamps.push(self.began.elapsed().as_nanos() as u64);
                    Ok(())
                }
            };
            if result.is_err() {
                break;
            }
        }
        Outcome { result, timestamps, observed }
    }

    fn dispatch(
        &self,
        pipeline: &Pipeline,
        groups: [u32; 3],
        job: &mut Arc<Job>,
        observed: &mut Observed,
    ) -> Result<()> {
        pipeline.usage.runs();
        Arc::get_mut(job).expect("no thread works on it yet").begin(|push| pipeline.code(groups, push))?;
        // Reading the clock takes a good part of the time of a small dispatch.
        let began = pipeline.is_timed().then(Instant::now);
        self.pool.run(job);
        let took = began.map_or(Duration::ZERO, |began| began.elapsed());
        if began.is_some() {
            pipeline.note(took, job.n_groups());
        }
        if pipeline.instrument != Instrument::None {
            if pipeline.instrument == Instrument::Profile {
                observed.costs.push(Cost::of(pipeline, groups, took, job.costs()));
            }
            let local_size = pipeline.interface.local_size;
            let launch = Launch { groups, local_size, ..Launch::default() };
            observed.findings.extend(job.findings().into_iter().map(|finding| Finding { launch, ..finding }));
        }
        match job.status() {
            DONE => Ok(()),
            INTERRUPTED_BETWEEN => Err(interrupted(pipeline.waited_at(job.diverged()))),
            status => match Stop::of_status(status) {
                Some(Stop::Diverged) => {
                    let (regions, lanes, group) = (job.diverged(), job.diverged_lanes(), job.stopped_in());
                    match pipeline.instrument {
                        Instrument::Checked(checks) if checks.has(Check::Barrier) => {
                            observed.findings.push(pipeline.divergence_finding(regions, lanes, group));
                            Ok(())
                        }
                        _ => Err(pipeline.divergence_error(regions, lanes, group)),
                    }
                }
                Some(Stop::Interrupted(place)) => Err(interrupted(pipeline.line(place))),
                None => unreachable!("a status above zero names a region, which was run"),
            },
        }
    }
}

fn interrupted(line: Option<SourceLine>) -> DeviceError {
    DeviceError::Interrupted { line }
}
