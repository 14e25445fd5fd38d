//! The built-in device: SPIR-V to machine code for the CPU that we run on.
//!
//! ```text
//! words        module   read and checked: ids, types, constants, blocks
//! Module       lower    calls inlined, values taken apart into scalars
//! lane IR      lane     what one invocation does; passes; regions between barriers
//! CLIF, code   emit     one function that runs a row of workgroups, made when `tiers` wants it
//! dispatch     pool     workgroups handed out to the threads
//! ```
//!
//! Submissions run while `submit` is called: when it returns they have ended, and `wait` only tells how.
//! Whatever the words are, a kernel stays within the buffers that it was given: loads out of range read
//! zero, stores out of range are dropped, nothing traps.

mod buffers;
mod dispatch;
mod emit;
mod errors;
mod images;
mod info;
mod lane;
mod library;
mod lower;
mod math;
mod module;
mod pipeline;
mod pool;
mod probes;
mod tiers;
mod together;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use self::buffers::Buffers;
use self::dispatch::{INTERRUPTED_BETWEEN, Job, JobSpec};
use self::emit::context::{DONE, Slot, Stop};
use self::images::ImageView;
use self::info::{MAX_GROUPS, NAME};
use self::library::Library;
use self::pipeline::Pipeline;
use self::pool::Pool;
use crate::command;
use crate::image::misfit;
use crate::interface::ImageBinding;
use crate::profile::{LineCounts, Recorder};
use crate::{
    BufferId, Check, Checks, Command, Commands, Device, DeviceError, DeviceInfo, Dispatch, Finding,
    HostMemory, ImageInfo, Instrument, Interface, MemoryUsage, PipelineId, PipelineOptions, QueueId, Result,
    Sampler, Schedule, SourceLine, Ticket, Waited,
};

pub use self::info::info;

/// How code goes through the invocations of a workgroup. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// One after the other.
    Single,
    /// Several neighbours at once, in kernels where that can be done.
    Gangs,
    /// As [`Lanes::Gangs`] where there is much to do, else in single ones whose code is sooner made.
    AsItPays,
}

/// Opens the built-in device. It is always there.
pub fn open() -> Result<Rc<dyn Device>> {
    new_device(Lanes::AsItPays, None)
}

/// As [`open`]; what kernels cost is added to the recorder.
pub fn open_profiled(recorder: Recorder) -> Result<Rc<dyn Device>> {
    new_device(Lanes::Single, Some(recorder))
}

/// As [`open`], with code of one kind.
pub fn open_with(lanes: Lanes) -> Result<Rc<dyn Device>> {
    new_device(lanes, None)
}

fn new_device(lanes: Lanes, recorder: Option<Recorder>) -> Result<Rc<dyn Device>> {
    Ok(Rc::new(CpuDevice {
        info: info(),
        lanes,
        recorder,
        interrupt: Arc::default(),
        began: Instant::now(),
        state: RefCell::new(State {
            pool: Pool::new(),
            buffers: Buffers::default(),
            pipelines: Vec::new(),
            loaded: FxHashMap::default(),
            library: Library::of_thread(),
            n_submitted: 0,
            outcomes: BTreeMap::new(),
            findings: Vec::new(),
        }),
    }))
}

struct CpuDevice {
    info: DeviceInfo,
    lanes: Lanes,
    /// Where what kernels cost is kept.
    recorder: Option<Recorder>,
    interrupt: Arc<AtomicBool>,
    began: Instant,
    state: RefCell<State>,
}

/// Outcomes that are kept at most, the oldest going first.
const MAX_OUTCOMES: usize = 4096;
/// Findings that are kept at most for whoever asks, the first ones.
const MAX_FINDINGS: usize = 4096;

struct State {
    pool: Pool,
    buffers: Buffers,
    pipelines: Vec<Rc<Pipeline>>,
    loaded: FxHashMap<(Vec<u32>, PipelineOptions), PipelineId>,
    /// Behind the pipelines, whose code it keeps.
    library: Library,
    n_submitted: u64,
    /// Of the submissions that have something to tell.
    outcomes: BTreeMap<u64, Outcome>,
    /// What nobody has asked for yet.
    findings: Vec<Finding>,
}

struct Outcome {
    timestamps: Vec<u64>,
    result: Result<()>,
}

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
        // SAFETY: `range` gave as many bytes as there are, inside the buffer. Whoever holds its host
        // memory was told not to touch it meanwhile, but may have lent it here: the ranges may overlap.
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
        let state = &mut *self.state.borrow_mut();
        let mut options = options.clone();
        if self.recorder.is_some() && options.instrument == Instrument::None {
            options.instrument = Instrument::Profile;
        }
        let key = (words.to_vec(), options.clone());
        if let Some(&id) = state.loaded.get(&key) {
            return Ok(id);
        }
        let pipeline = state.library.load(words, &options, self.lanes)?;
        let id = PipelineId(state.pipelines.len() as u64);
        state.pipelines.push(pipeline);
        state.loaded.insert(key, id);
        Ok(id)
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Rc<Interface>> {
        Ok(self.state.borrow().pipeline(pipeline)?.interface.clone())
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        let state = &mut *self.state.borrow_mut();
        if queue != QueueId(0) {
            return Err(DeviceError::UnknownId { kind: "queue" });
        }
        // What was submitted has ended, so there is nothing to wait for.
        after.iter().try_for_each(|ticket| state.check_ticket(*ticket))?;
        for command in commands.iter() {
            state.check(command)?;
        }
        let outcome = self.run(state, commands);
        state.n_submitted += 1;
        if outcome.result.is_err() || !outcome.timestamps.is_empty() {
            state.outcomes.insert(state.n_submitted, outcome);
            if state.outcomes.len() > MAX_OUTCOMES {
                state.outcomes.pop_first();
            }
        }
        Ok(Ticket { queue: 0, value: state.n_submitted })
    }

    fn wait(&self, ticket: Ticket, _timeout: Option<Duration>) -> Result<Waited> {
        let state = self.state.borrow();
        state.check_ticket(ticket)?;
        match state.outcomes.get(&ticket.value) {
            Some(outcome) => outcome.result.clone().map(|()| Waited::Done),
            None => Ok(Waited::Done),
        }
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        let state = self.state.borrow();
        state.check_ticket(ticket)?;
        let outcome = state.outcomes.get(&ticket.value);
        Ok(outcome.map(|outcome| outcome.timestamps.clone()).unwrap_or_default())
    }

    fn findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.state.borrow_mut().findings)
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }
}

impl CpuDevice {
    fn run(&self, state: &mut State, commands: &Commands) -> Outcome {
        let mut timestamps = Vec::new();
        for command in commands.iter() {
            if self.interrupt.load(Ordering::Relaxed) {
                return Outcome { timestamps, result: Err(interrupted(None)) };
            }
            let result = match command {
                Command::Copy { from, from_offset, to, to_offset, size } => {
                    state.copy((*from, *from_offset), (*to, *to_offset), *size)
                }
                Command::Dispatch(dispatch) => self.dispatch(state, dispatch),
                Command::Timestamp => {
                    timestamps.push(self.began.elapsed().as_nanos() as u64);
                    Ok(())
                }
            };
            if result.is_err() {
                return Outcome { timestamps, result };
            }
        }
        Outcome { timestamps, result: Ok(()) }
    }

    fn dispatch(&self, state: &mut State, dispatch: &Dispatch) -> Result<()> {
        let slots = state.slots(dispatch)?;
        let written = state.written(dispatch)?;
        let buffers = slots.iter().map(dispatch::bytes).collect();
        let memory = probes::Memory { groups: dispatch.groups, buffers, written };
        let n_threads = state.pool.n_threads() as u64;
        let pipeline = state.pipeline(dispatch.pipeline)?;
        let chosen = state.library.code(pipeline, dispatch)?;
        let spec = JobSpec {
            chosen,
            together: pipeline.together.clone(),
            slots,
            ranges: if pipeline.uses_addresses { state.buffers.ranges() } else { Vec::new() },
            images: state.image_views(dispatch)?,
            samplers: state.samplers(dispatch)?,
            push: &state.push_constants(dispatch)?,
            groups: dispatch.groups,
            frame_size: pipeline.frame_size,
            shared_size: pipeline.shared_size,
            group_cost: pipeline.cost,
            n_threads,
            interrupt: self.interrupt.clone(),
            watch: probes::Watch::new(
                pipeline.instrument,
                &pipeline.probes,
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
        if let Some(recorder) = &self.recorder {
            let costs = job.costs();
            record(recorder, state.pipeline(dispatch.pipeline)?, dispatch, began.elapsed(), costs);
        }
        let found = job.findings();
        let room = MAX_FINDINGS - state.findings.len();
        state.findings.extend(found.into_iter().take(room));
        let pipeline = state.pipelines[dispatch.pipeline.0 as usize].clone();
        pipeline.tiers.note(began.elapsed());
        match job.status() {
            DONE => Ok(()),
            INTERRUPTED_BETWEEN => Err(interrupted(None)),
            status => match Stop::of_status(status) {
                Some(Stop::Parted) => match pipeline.instrument {
                    Instrument::Checked(checks) if checks.has(Check::Barrier) => {
                        let finding = pipeline.parted_finding(job.parted(), job.stopped_in());
                        state.findings.push(finding);
                        Ok(())
                    }
                    _ => Err(pipeline.parted(job.parted(), job.stopped_in())),
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
    let name = pipeline.interface.name.as_deref().unwrap_or(&pipeline.interface.entry_point);
    recorder.add(name, invocations, time, costs);
}

fn interrupted(line: Option<SourceLine>) -> DeviceError {
    DeviceError::Interrupted { line }
}

impl State {
    fn pipeline(&self, id: PipelineId) -> Result<&Pipeline> {
        let pipeline = usize::try_from(id.0).ok().and_then(|id| self.pipelines.get(id));
        pipeline.map(Rc::as_ref).ok_or(DeviceError::UnknownId { kind: "pipeline" })
    }

    fn check_ticket(&self, ticket: Ticket) -> Result<()> {
        match ticket {
            Ticket { queue: 0, value } if (1..=self.n_submitted).contains(&value) => Ok(()),
            _ => Err(DeviceError::UnknownId { kind: "ticket" }),
        }
    }

    /// Whether a command can run at all.
    fn check(&self, command: &Command) -> Result<()> {
        match command {
            Command::Copy { from, from_offset, to, to_offset, size } => {
                self.buffers.range(*from, *from_offset, *size)?;
                self.buffers.range(*to, *to_offset, *size)?;
                let overlap = from_offset.abs_diff(*to_offset) < *size;
                match from == to && overlap {
                    true => Err(errors::bad_command("a copy within a buffer overlaps itself")),
                    false => Ok(()),
                }
            }
            Command::Dispatch(dispatch) => self.check_dispatch(dispatch),
            Command::Timestamp => Ok(()),
        }
    }

    fn check_dispatch(&self, dispatch: &Dispatch) -> Result<()> {
        let pipeline = self.pipeline(dispatch.pipeline)?;
        let given = dispatch.push_constants.len();
        if given < pipeline.push_size {
            return Err(errors::bad_command(format!(
                "the pipeline takes {} bytes of push constants, {given} were given",
                pipeline.push_size
            )));
        }
        if let Some(&n) = dispatch.groups.iter().find(|&&n| n > MAX_GROUPS) {
            let (asked, limit, device) = (u64::from(n), u64::from(MAX_GROUPS), NAME.to_owned());
            return Err(DeviceError::LimitExceeded {
                what: "the number of workgroups",
                asked,
                limit,
                device,
            });
        }
        self.push_constants(dispatch)?;
        pipeline.interface.images.iter().try_for_each(|wanted| self.check_image(wanted, dispatch))?;
        self.samplers(dispatch)?;
        self.slots(dispatch).map(|_| ())
    }

    /// Whether an image that fits is bound where the module wants one.
    fn check_image(&self, wanted: &ImageBinding, dispatch: &Dispatch) -> Result<()> {
        let at = (wanted.set, wanted.binding);
        let place = format!("set {} binding {}", at.0, at.1);
        let bound = dispatch.bindings.iter().find(|bound| (bound.set, bound.binding) == at);
        let bound = bound.ok_or_else(|| errors::nothing_bound(at.0, at.1))?;
        let misfit = match self.buffers.image(bound.buffer) {
            Some(image) => misfit(wanted, image),
            None => Some("needs an image, not a buffer".to_owned()),
        };
        misfit.map_or(Ok(()), |misfit| Err(errors::bad_command(format!("{place} {misfit}"))))
    }

    /// What the code of a dispatch finds at each of its buffers.
    fn slots(&self, dispatch: &Dispatch) -> Result<Vec<Slot>> {
        let pipeline = self.pipeline(dispatch.pipeline)?;
        let slot = |&(set, binding): &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter();
            let bound = bindings.find(|bound| (bound.set, bound.binding) == (set, binding));
            self.buffers.bound(bound.ok_or_else(|| errors::nothing_bound(set, binding))?)
        };
        pipeline.buffers.iter().map(slot).collect()
    }

    /// Its push constants with the addresses in them.
    fn push_constants<'d>(&self, dispatch: &'d Dispatch) -> Result<Cow<'d, [u8]>> {
        let mut push = Cow::from(&dispatch.push_constants);
        for wanted in &self.pipeline(dispatch.pipeline)?.interface.addresses {
            let addressed = command::addressed_at(wanted, dispatch)?;
            let slot = self.buffers.range(addressed.buffer, addressed.offset, addressed.size)?;
            command::put_address(addressed, slot.base as u64, push.to_mut())?;
        }
        Ok(push)
    }

    /// Of each of its buffers which bytes were written, if that is watched and there are others. Where it is not
    /// watched, all that the dispatch may write counts as written.
    fn written(&mut self, dispatch: &Dispatch) -> Result<Vec<Option<probes::Written>>> {
        let pipeline = self.pipeline(dispatch.pipeline)?;
        let (wanted, instrument) = (pipeline.buffers.clone(), pipeline.instrument);
        let is_watched =
            matches!(instrument, Instrument::Checked(checks) if checks.has(Check::DeviceUninitialised));
        for bound in dispatch.bindings.iter().filter(|bound| !is_watched && bound.access.writes()) {
            self.buffers.wrote(bound.buffer, bound.offset..bound.offset + bound.size);
        }
        for bound in dispatch.addressed.iter().filter(|bound| bound.access.writes()) {
            self.buffers.wrote(bound.buffer, bound.offset..bound.offset + bound.size);
        }
        let written = |at: &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter().filter(|_| is_watched);
            let bound = bindings.find(|bound| (bound.set, bound.binding) == *at)?;
            self.buffers.written(bound)
        };
        Ok(wanted.iter().map(written).collect())
    }

    /// What it finds at each of its images.
    fn image_views(&self, dispatch: &Dispatch) -> Result<Vec<ImageView>> {
        let view = |&(set, binding): &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter();
            let bound = bindings.find(|bound| (bound.set, bound.binding) == (set, binding));
            let bound = bound.ok_or_else(|| errors::nothing_bound(set, binding))?;
            self.buffers.view(bound.buffer)
        };
        self.pipeline(dispatch.pipeline)?.images.iter().map(view).collect()
    }

    fn samplers(&self, dispatch: &Dispatch) -> Result<Vec<Sampler>> {
        let sampler = |&(set, binding): &(u32, u32)| {
            let mut samplers = dispatch.samplers.iter();
            let bound = samplers.find(|bound| (bound.set, bound.binding) == (set, binding));
            let missing =
                || errors::bad_command(format!("no sampler is bound at set {set} binding {binding}"));
            bound.map(|bound| bound.sampler).ok_or_else(missing)
        };
        self.pipeline(dispatch.pipeline)?.samplers.iter().map(sampler).collect()
    }

    fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), size: u64) -> Result<()> {
        self.buffers.copied(from, to, size);
        let from = self.buffers.range(from.0, from.1, size)?;
        let to = self.buffers.range(to.0, to.1, size)?;
        // SAFETY: both ranges were found inside their buffers.
        unsafe { std::ptr::copy(from.base, to.base, size as usize) };
        Ok(())
    }
}
