//! The CPU device: it compiles SPIR-V to machine code for the CPU of this machine.
//!
//! ```text
//! SPIR-V       module   read and checked: ids, types, constants, blocks
//! Module       lower    calls inlined, composites split into scalars
//! lane IR      lane     code of one invocation; passes; regions between barriers
//! CLIF, code   emit     one function that runs a row of workgroups, compiled on demand by `tiers`
//! dispatch     pool     workgroups distributed to threads
//! ```
//!
//! `submit` runs the commands to their end before it returns, and `wait` only reports the result.
//!
//! Whatever a module does, a kernel stays within its buffers. Loads out of range read zero, stores out of
//! range are dropped, and nothing traps.

mod buffers;
mod dispatch;
mod emit;
mod errors;
mod images;
mod info;
mod instrumentation;
mod lane;
mod library;
mod lower;
mod math;
mod module;
mod pipeline;
mod pool;
mod state;
mod subgroups;
mod tiers;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use self::dispatch::{INTERRUPTED_BETWEEN, Job, JobSpec};
use self::emit::context::{DONE, Stop};
use self::images::ImageView;
use self::library::Key;
use self::pipeline::Pipeline;
use self::state::{State, Submission, samplers};
use crate::findings::Launch;
use crate::profile::{LineCounts, Recorder};
use crate::{
    BufferId, Check, Checks, Command, Commands, Device, DeviceError, DeviceInfo, Dispatch, Finding,
    HostMemory, ImageInfo, Instrument, Interface, MemoryUsage, Origin, PipelineId, PipelineOptions, QueueId,
    Result, Schedule, SourceLine, Ticket, Waited,
};

pub use self::info::info;
pub use self::library::{CacheStats, ROOM, cache_stats};

/// How code processes the invocations of a workgroup. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// One lane after the other.
    Single,
    /// SIMD groups of neighbouring lanes, where the kernel permits it.
    SimdGroups,
    /// [`Lanes::SimdGroups`] for long-running kernels, else single lanes, which compile faster.
    Adaptive,
}

/// Opens the CPU device, which always exists.
pub fn open() -> Result<Rc<dyn Device>> {
    new_device(Lanes::Adaptive, None)
}

/// As [`open`]; the recorder gets the cost of each kernel.
pub fn open_profiled(recorder: Recorder) -> Result<Rc<dyn Device>> {
    new_device(Lanes::Adaptive, Some(recorder))
}

/// As [`open`], with code of one kind.
pub fn open_with(lanes: Lanes) -> Result<Rc<dyn Device>> {
    new_device(lanes, None)
}

/// Refuses modules from which this device cannot make a pipeline.
pub fn check(words: &[u32], options: &PipelineOptions) -> Result<()> {
    pipeline::load(words, options, Lanes::Single).map(|_| ())
}

fn new_device(lanes: Lanes, recorder: Option<Recorder>) -> Result<Rc<dyn Device>> {
    Ok(Rc::new(CpuDevice {
        info: info(),
        lanes,
        recorder,
        interrupt: Arc::default(),
        began: Instant::now(),
        state: RefCell::new(State::new()),
    }))
}

struct CpuDevice {
    info: DeviceInfo,
    lanes: Lanes,
    /// Receives the cost of kernels.
    recorder: Option<Recorder>,
    interrupt: Arc<AtomicBool>,
    began: Instant,
    state: RefCell<State>,
}

/// Maximum number of stored findings. Later ones are dropped.
const MAX_FINDINGS: usize = 4096;

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn alloc(&self, size: u64, _usage: MemoryUsage) -> Result<BufferId> {
        self.state.borrow_mut().buffers.alloc(size)
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        self.state.borrow_mut().buffers.alloc_image(image)
    }

    fn free(&self, buffer: BufferId) {
        self.state.borrow_mut().buffers.free(buffer);
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        let buffers = &mut self.state.borrow_mut().buffers;
        let to = buffers.range(buffer, offset, bytes.len() as u64)?;
        buffers.wrote(buffer, offset..offset + bytes.len() as u64);
        // SAFETY: `range` checked that all bytes are inside the buffer. The source may be the buffer's own
        // host memory, so the ranges may overlap.
        unsafe { std::ptr::copy(bytes.as_ptr(), to.base, bytes.len()) };
        Ok(())
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let from = self.state.borrow().buffers.range(buffer, offset, bytes.len() as u64)?;
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy(from.base, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory> {
        self.state.borrow().buffers.host_memory(buffer)
    }

    fn blank(&self, buffer: BufferId) {
        self.state.borrow_mut().buffers.blank(buffer);
    }

    fn wrote(&self, buffer: BufferId, bytes: Range<u64>) {
        self.state.borrow_mut().buffers.wrote(buffer, bytes);
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        let mut options = options.clone();
        if self.recorder.is_some() && options.instrument == Instrument::None {
            options.instrument = Instrument::Profile;
        }
        // The CPU device bounds the accesses of every module.
        options.origin = Origin::default();
        self.state.borrow_mut().load(Key { words: words.into(), options, lanes: self.lanes })
    }

    fn unload(&self, pipeline: PipelineId) {
        self.state.borrow_mut().unload(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        self.state.borrow().interface(pipeline)
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        let state = &mut *self.state.borrow_mut();
        if queue != QueueId(0) {
            return Err(DeviceError::UnknownId { kind: "queue" });
        }
        // Submissions have ended when `submit` returns, so there is nothing to wait for.
        after.iter().try_for_each(|ticket| state.check_ticket(*ticket))?;
        for command in commands.iter() {
            state.check(command)?;
        }
        let submission = self.run(state, commands);
        Ok(state.submitted(submission))
    }

    fn wait(&self, ticket: Ticket, _timeout: Option<Duration>) -> Result<Waited> {
        match self.state.borrow().submission(ticket)? {
            Some(submission) => submission.result.clone().map(|()| Waited::Done),
            None => Ok(Waited::Done),
        }
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        let state = self.state.borrow();
        let submission = state.submission(ticket)?;
        Ok(submission.map(|submission| submission.timestamps.clone()).unwrap_or_default())
    }

    fn findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.state.borrow_mut().findings)
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }
}

impl CpuDevice {
    fn run(&self, state: &mut State, commands: &Commands) -> Submission {
        let mut timestamps = Vec::new();
        let mut n_dispatches = 0;
        for command in commands.iter() {
            if self.interrupt.load(Ordering::Relaxed) {
                return Submission { timestamps, result: Err(interrupted(None)) };
            }
            let result = match command {
                Command::Copy { from, from_offset, to, to_offset, size } => {
                    state.copy((*from, *from_offset), (*to, *to_offset), *size)
                }
                Command::Dispatch(dispatch) => {
                    let n_before = state.findings.len();
                    let result = self.dispatch(state, dispatch);
                    let found = &mut state.findings[n_before..];
                    found.iter_mut().for_each(|found| found.launch.dispatch = n_dispatches);
                    n_dispatches += 1;
                    result
                }
                Command::Timestamp => {
                    timestamps.push(self.began.elapsed().as_nanos() as u64);
                    Ok(())
                }
            };
            if result.is_err() {
                return Submission { timestamps, result };
            }
        }
        Submission { timestamps, result: Ok(()) }
    }

    fn dispatch(&self, state: &mut State, dispatch: &Dispatch) -> Result<()> {
        // This reference keeps the code alive while it runs: the cache may evict the pipeline.
        let pipeline = &*state.pipeline(dispatch.pipeline)?;
        let slots = state.slots(pipeline, dispatch)?;
        let written = state.written(pipeline, dispatch);
        let buffers = slots.iter().map(dispatch::bytes).collect();
        let views = state.image_views(pipeline, dispatch)?;
        let images = views.iter().map(ImageView::texels).collect();
        let memory = instrumentation::Memory { groups: dispatch.groups, buffers, images, written };
        let n_threads = state.pool.n_threads() as u64;
        let spec = JobSpec {
            chosen: pipeline.code(dispatch)?,
            scheduler: pipeline.scheduler.clone(),
            slots,
            ranges: if pipeline.uses_addresses { state.buffers.ranges() } else { Vec::new() },
            images: views,
            samplers: samplers(pipeline, dispatch)?,
            push: &state.push_constants(pipeline, dispatch)?,
            groups: dispatch.groups,
            frame_size: pipeline.frame_size,
            shared_size: pipeline.shared_size,
            clears_shared: pipeline.clears_shared,
            group_cost: pipeline.cost,
            n_threads,
            interrupt: self.interrupt.clone(),
            watch: instrumentation::Watch::new(
                pipeline.instrument,
                &pipeline.sites,
                pipeline.interface.local_size,
                memory,
            ),
            seed: match pipeline.instrument {
                Instrument::Checked(Checks { schedule: Schedule::Seed(seed), .. }) => Some(seed),
                _ => None,
            },
            local_size: pipeline.interface.local_size,
        };
        let Some(job) = Job::new(spec) else { return Ok(()) };
        let began = Instant::now();
        let job = state.pool.run(job);
        if let (Some(recorder), Instrument::Profile) = (&self.recorder, pipeline.instrument) {
            let costs = job.costs();
            record(recorder, pipeline, dispatch, began.elapsed(), costs);
        }
        let launch =
            Launch { dispatch: 0, groups: dispatch.groups, local_size: pipeline.interface.local_size };
        let found = job.findings().into_iter().map(|finding| Finding { launch, ..finding });
        let room = MAX_FINDINGS - state.findings.len();
        state.findings.extend(found.take(room));
        pipeline.note(began.elapsed());
        match job.status() {
            DONE => Ok(()),
            INTERRUPTED_BETWEEN => Err(interrupted(pipeline.waited_at(job.diverged()))),
            status => match Stop::of_status(status) {
                Some(Stop::Diverged) => match pipeline.instrument {
                    Instrument::Checked(checks) if checks.has(Check::Barrier) => {
                        let finding = pipeline.divergence_finding(
                            job.diverged(),
                            job.diverged_lanes(),
                            job.stopped_in(),
                        );
                        state.findings.push(finding);
                        Ok(())
                    }
                    _ => {
                        Err(pipeline.divergence_error(job.diverged(), job.diverged_lanes(), job.stopped_in()))
                    }
                },
                Some(Stop::Interrupted(place)) => Err(interrupted(pipeline.line(place))),
                None => unreachable!("a status above zero names a region, which was run"),
            },
        }
    }
}

/// Adds a dispatch to the profile.
fn record(
    recorder: &Recorder,
    pipeline: &Pipeline,
    dispatch: &Dispatch,
    time: Duration,
    costs: Vec<LineCounts>,
) {
    let sides = dispatch.groups.iter().chain(&pipeline.interface.local_size);
    let invocations = sides.fold(1u64, |product, &n| product.saturating_mul(n.into()));
    recorder.add(&pipeline.name(), invocations, time, costs);
}

fn interrupted(line: Option<SourceLine>) -> DeviceError {
    DeviceError::Interrupted { line }
}
