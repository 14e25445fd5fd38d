//! The state of an open device: its buffers, loaded modules and queues. It checks all commands of a
//! submission before the first of them runs, and resolves bindings into slots.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::buffers::Buffers;
use super::dispatch::{Job, JobSpec};
use super::emit::context::Slot;
use super::images::ImageView;
use super::info::{MAX_GROUPS, NAME};
use super::library::{Key, Loaded};
use super::pipeline::Pipeline;
use super::queues::Queues;
use super::repeated::Repeated;
use super::submission::{Runner, Step, Submission};
use super::{errors, instrumentation};
use crate::command;
use crate::image::{misfit, unfilterable};
use crate::interface::ImageBinding;
use crate::profile::Recorder;
use crate::{
    Access, BufferId, Check, Checks, Command, Commands, DeviceError, Dispatch, Finding, Instrument,
    Interface, Limit, PipelineId, Result, Sampler, Schedule, Ticket,
};

pub struct State {
    pub buffers: Buffers,
    pub queues: Queues,
    pub repeated: Repeated,
    loaded: FxHashMap<PipelineId, Loaded>,
    n_loaded: u64,
    ids: FxHashMap<Key, PipelineId>,
    /// Findings that were not read yet.
    pub findings: Vec<Finding>,
}

impl State {
    pub fn new(buffers: Buffers, n_queues: usize, runner: Runner) -> State {
        State {
            buffers,
            queues: Queues::new(n_queues, runner),
            repeated: Repeated::default(),
            loaded: FxHashMap::default(),
            n_loaded: 0,
            ids: FxHashMap::default(),
            findings: Vec::new(),
        }
    }

    pub fn load(&mut self, key: Key) -> Result<PipelineId> {
        if let Some(id) = self.ids.get(&key) {
            self.loaded.get_mut(id).expect("what has an id is loaded").n_loads += 1;
            return Ok(*id);
        }
        // What is kept would keep the code that the library evicts for this module.
        self.repeated.clear();
        self.loaded.values().for_each(|loaded| drop(loaded.spare.take()));
        let id = PipelineId(self.n_loaded);
        self.loaded.insert(id, Loaded::load(key.clone())?);
        self.n_loaded += 1;
        self.ids.insert(key, id);
        Ok(id)
    }

    /// A submission owns a reference to its pipelines, so this one may go at once. The library caches the code.
    pub fn unload(&mut self, id: PipelineId) {
        let Some(loaded) = self.loaded.get_mut(&id) else { return };
        loaded.n_loads -= 1;
        if loaded.n_loads == 0 {
            self.repeated.clear();
            self.ids.remove(loaded.key());
            self.loaded.remove(&id);
        }
    }

    fn loaded(&self, id: PipelineId) -> Result<&Loaded> {
        self.loaded.get(&id).ok_or(DeviceError::UnknownId { kind: "pipeline" })
    }

    pub fn interface(&self, id: PipelineId) -> Result<Arc<Interface>> {
        Ok(self.loaded(id)?.interface.clone())
    }

    /// Checks the commands, and resolves them into a submission for a queue, after these tickets and all
    /// submissions that use its buffers.
    pub fn resolve(&mut self, queue: usize, commands: &Commands, after: &[Ticket]) -> Result<Submission> {
        after.iter().try_for_each(|ticket| self.queues.check_ticket(*ticket))?;
        let known = if commands.repeats() { self.repeated.take(commands) } else { None };
        let is_known = known.is_some();
        let mut submission = known.unwrap_or_default();
        if !is_known {
            self.resolve_anew(commands, &mut submission)?;
        }
        submission.ticket = self.queues.next_ticket(queue);
        submission.after = match self.queues.is_idle() {
            true => Vec::new(),
            false => self.predecessors(queue, uses_of(&mut submission, commands), after),
        };
        Ok(submission)
    }

    fn resolve_anew(&mut self, commands: &Commands, submission: &mut Submission) -> Result<()> {
        submission.steps.reserve_exact(commands.len());
        for command in commands.iter() {
            submission.steps.push(self.step(command)?);
        }
        let n_timestamps = commands.iter().filter(|command| **command == Command::Timestamp).count();
        submission.timestamps.reserve_exact(n_timestamps);
        for (command, step) in commands.iter().zip(&mut submission.steps) {
            self.mark(command, step);
        }
        if commands.repeats() && submission.steps.iter().all(may_repeat) {
            submission.list = Some(self.repeated.id_of(commands));
        }
        Ok(())
    }

    /// The submissions of other queues that a submission of this queue has to follow.
    fn predecessors(&self, queue: usize, uses: &[(BufferId, Access)], after: &[Ticket]) -> Vec<(usize, u64)> {
        let mut last = vec![0; self.queues.len()];
        let mut add = |(queue, value): (usize, u64)| last[queue] = value.max(last[queue]);
        after.iter().for_each(|ticket| add((ticket.queue as usize, ticket.value)));
        for (buffer, access) in uses {
            self.buffers.before(*buffer, *access).for_each(&mut add);
        }
        let running = |(other, value): &(usize, u64)| {
            *other != queue && *value > 0 && !self.queues.has_ended(*other, *value)
        };
        last.into_iter().enumerate().filter(running).collect()
    }

    /// Lets another thread run a submission: records its uses of buffers, and gives it their memory.
    pub fn share(&mut self, submission: &mut Submission, commands: &Commands) {
        let ticket = submission.ticket;
        for (buffer, access) in uses_of(submission, commands) {
            self.buffers.note_use(*buffer, ticket, *access);
        }
        if !submission.memory.is_empty() {
            return;
        }
        let by_address = |step: &Step| match step {
            Step::Dispatch { pipeline, .. } => pipeline.uses_addresses,
            Step::Copy { .. } | Step::Timestamp => false,
        };
        submission.memory = match submission.steps.iter().any(by_address) {
            // An address may be that of any buffer.
            true => self.buffers.all_memory().cloned().collect(),
            false => {
                let named = submission.uses.iter();
                named.filter_map(|(buffer, _)| self.buffers.memory(*buffer)).cloned().collect()
            }
        };
    }

    pub fn free(&mut self, buffer: BufferId) {
        self.repeated.clear();
        self.buffers.free(buffer);
    }

    /// Marks a buffer as uninitialised.
    pub fn blank(&mut self, buffer: BufferId) {
        self.repeated.clear();
        self.buffers.blank(buffer);
    }

    /// Takes back the submissions that threads have run.
    pub fn take_back(&mut self) {
        self.queues.take_spent().into_iter().for_each(|submission| self.keep(submission));
    }

    /// Keeps what later submissions can use of one that has ended.
    pub fn keep(&mut self, submission: Submission) {
        if submission.list.is_some() {
            return self.repeated.keep(submission);
        }
        for step in submission.steps {
            if let Step::Dispatch { id, pipeline, job: Some(job), .. } = step
                && pipeline.is_plain()
                && let Some(loaded) = self.loaded.get(&id)
            {
                loaded.spare.replace(Some(job));
            }
        }
    }

    /// Takes the findings of checked kernels, and records the costs of profiled ones.
    pub fn collect_observed(&mut self, recorder: Option<&Recorder>) {
        let Some(observed) = self.queues.take_observed() else { return };
        self.findings.extend(observed.findings);
        if let Some(recorder) = recorder {
            observed.costs.into_iter().for_each(|cost| cost.record(recorder));
        }
    }

    /// Waits for the submissions that have to end before the host uses a buffer in this way.
    pub fn wait_for(&self, buffer: BufferId, access: Access) {
        for (queue, value) in self.buffers.before(buffer, access) {
            self.queues.wait_for_end(queue, value);
        }
    }

    /// Checks that a command can run, and resolves it.
    fn step(&self, command: &Command) -> Result<Step> {
        match command {
            Command::Copy { from, from_offset, to, to_offset, size } => {
                let source = self.buffers.range(*from, *from_offset, *size)?;
                let target = self.buffers.range(*to, *to_offset, *size)?;
                let overlap = from_offset.abs_diff(*to_offset) < *size;
                if from == to && overlap {
                    return Err(errors::bad_command("a copy within a buffer overlaps itself"));
                }
                Ok(Step::Copy { from: source.base, to: target.base, size: *size, marks: None })
            }
            Command::Dispatch(dispatch) => self.dispatch_step(dispatch),
            Command::Timestamp => Ok(Step::Timestamp),
        }
    }

    fn dispatch_step(&self, dispatch: &Dispatch) -> Result<Step> {
        let loaded = self.loaded(dispatch.pipeline)?;
        let (id, groups, pipeline) = (dispatch.pipeline, dispatch.groups, loaded.pipeline()?);
        self.check_dispatch(&pipeline, dispatch)?;
        if pipeline.is_plain()
            && let Some(mut job) = loaded.spare.take().filter(|spare| spare.groups() == groups)
        {
            let slots = self.slots(&pipeline, dispatch)?;
            let spare = Arc::get_mut(&mut job).expect("no thread works on it any more");
            spare.renew(slots, &dispatch.push_constants);
            return Ok(Step::Dispatch { id, pipeline, groups, job: Some(job) });
        }
        let push = self.push_constants(&pipeline, dispatch)?;
        pipeline.interface.images.iter().try_for_each(|wanted| self.check_image(wanted, dispatch))?;
        let samplers = samplers(&pipeline, dispatch)?;
        let slots = self.slots(&pipeline, dispatch)?;
        let spec = JobSpec {
            scheduler: pipeline.scheduler.clone(),
            slots,
            ranges: if pipeline.uses_addresses { self.buffers.ranges() } else { Vec::new() },
            images: self.image_views(&pipeline, dispatch)?,
            samplers,
            push: &push,
            groups,
            frame_size: pipeline.frame_size,
            shared_size: pipeline.shared_size,
            clears_shared: pipeline.clears_shared,
            group_cost: pipeline.cost,
            n_threads: self.queues.runner().pool.n_threads() as u64,
            interrupt: self.queues.runner().interrupt.clone(),
            seed: match pipeline.instrument {
                Instrument::Checked(Checks { schedule: Schedule::Seed(seed), .. }) => Some(seed),
                _ => None,
            },
            local_size: pipeline.interface.local_size,
        };
        let job = Job::new(spec).map(Arc::new);
        Ok(Step::Dispatch { id, pipeline, groups, job })
    }

    /// Marks what a command writes as initialised, and passes the marks to those that look at them.
    fn mark(&mut self, command: &Command, step: &mut Step) {
        match (command, step) {
            (Command::Copy { from, from_offset, to, to_offset, .. }, Step::Copy { marks, .. }) => {
                *marks = self.buffers.marks((*from, *from_offset), (*to, *to_offset));
                if marks.is_some() {
                    // Kept submissions that write the target would not mark it again.
                    self.repeated.clear();
                }
            }
            (Command::Dispatch(dispatch), Step::Dispatch { pipeline, job, .. }) => {
                let written = self.written(pipeline, dispatch);
                if let (Some(job), true) = (job, pipeline.instrument != Instrument::None) {
                    let job = Arc::get_mut(job).expect("it was just made");
                    job.watch(pipeline.instrument, &pipeline.sites, written);
                }
            }
            _ => {}
        }
    }

    fn check_dispatch(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<()> {
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
                what: Limit::Other("the number of workgroups"),
                asked,
                limit,
                device,
            });
        }
        Ok(())
    }

    /// Checks that an image of the right kind is bound.
    fn check_image(&self, wanted: &ImageBinding, dispatch: &Dispatch) -> Result<()> {
        let at = (wanted.set, wanted.binding);
        let shown = command::shown(at, wanted.name.as_deref());
        let bound = dispatch.bindings.iter().find(|bound| (bound.set, bound.binding) == at);
        let bound = bound.ok_or_else(|| errors::nothing_bound(at.0, at.1))?;
        let misfit = match self.buffers.image(bound.buffer) {
            Some(image) => misfit(wanted, image).or_else(|| unfilterable(wanted, image, &dispatch.samplers)),
            None => Some("needs an image, not a buffer".to_owned()),
        };
        misfit.map_or(Ok(()), |misfit| Err(errors::bad_command(format!("{shown} {misfit}"))))
    }

    /// The address range of each buffer that the code uses.
    fn slots(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<SmallVec<[Slot; 4]>> {
        let slot = |&(set, binding): &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter();
            let bound = bindings.find(|bound| (bound.set, bound.binding) == (set, binding));
            self.buffers.bound(bound.ok_or_else(|| errors::nothing_bound(set, binding))?)
        };
        pipeline.buffers.iter().map(slot).collect()
    }

    /// The push constants, with the addresses of buffers filled in.
    fn push_constants<'d>(&self, pipeline: &Pipeline, dispatch: &'d Dispatch) -> Result<Cow<'d, [u8]>> {
        let mut push = Cow::from(&dispatch.push_constants);
        for wanted in &pipeline.interface.addresses {
            let addressed = command::addressed_at(wanted, dispatch)?;
            let slot = self.buffers.range(addressed.buffer, addressed.offset, addressed.size)?;
            command::put_address(addressed, slot.base as u64, push.to_mut())?;
        }
        Ok(push)
    }

    /// For instrumented pipelines: the written bytes of each buffer, then of each image, unless all are.
    /// Without instrumentation, everything that the dispatch may write counts as written.
    fn written(&mut self, pipeline: &Pipeline, dispatch: &Dispatch) -> Vec<Option<instrumentation::Written>> {
        let is_watched = matches!(pipeline.instrument, Instrument::Checked(checks) if checks.has(Check::DeviceUninitialised));
        for bound in dispatch.bindings.iter().filter(|bound| !is_watched && bound.access.writes()) {
            self.buffers.wrote(bound.buffer, bound.offset..bound.offset + bound.size);
        }
        for bound in dispatch.addressed.iter().filter(|bound| bound.access.writes()) {
            self.buffers.wrote(bound.buffer, bound.offset..bound.offset + bound.size);
        }
        if pipeline.instrument == Instrument::None {
            return Vec::new();
        }
        let written = |at: &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter().filter(|_| is_watched);
            let bound = bindings.find(|bound| (bound.set, bound.binding) == *at)?;
            self.buffers.written(bound)
        };
        pipeline.buffers.iter().chain(&pipeline.images).map(written).collect()
    }

    /// The view of each image that the code uses.
    fn image_views(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Vec<ImageView>> {
        let view = |&(set, binding): &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter();
            let bound = bindings.find(|bound| (bound.set, bound.binding) == (set, binding));
            let bound = bound.ok_or_else(|| errors::nothing_bound(set, binding))?;
            self.buffers.view(bound.buffer)
        };
        pipeline.images.iter().map(view).collect()
    }
}

/// Whether a step is the same whenever its list is submitted.
fn may_repeat(step: &Step) -> bool {
    match step {
        Step::Copy { marks, .. } => marks.is_none(),
        // Another buffer may be reached by an address, and observers watch one run.
        Step::Dispatch { pipeline, .. } => {
            !pipeline.uses_addresses && pipeline.instrument == Instrument::None
        }
        Step::Timestamp => true,
    }
}

/// The buffers that a submission names, each once, with all its accesses.
fn uses_of<'s>(submission: &'s mut Submission, commands: &Commands) -> &'s [(BufferId, Access)] {
    if submission.uses.is_empty() {
        let mut all: FxHashMap<BufferId, Access> = FxHashMap::default();
        for (buffer, access) in commands.iter().flat_map(uses) {
            all.entry(buffer).and_modify(|known| *known = known.and(access)).or_insert(access);
        }
        submission.uses = all.into_iter().collect();
    }
    &submission.uses
}

/// The buffers that a command names, with their accesses.
fn uses(command: &Command) -> impl Iterator<Item = (BufferId, Access)> {
    let (copied, dispatch) = match command {
        Command::Copy { from, to, .. } => (Some([(*from, Access::Read), (*to, Access::Write)]), None),
        Command::Dispatch(dispatch) => (None, Some(dispatch)),
        Command::Timestamp => (None, None),
    };
    let bound = dispatch.into_iter().flat_map(|dispatch| {
        let addressed = dispatch.addressed.iter().map(|bound| (bound.buffer, bound.access));
        dispatch.bindings.iter().map(|bound| (bound.buffer, bound.access)).chain(addressed)
    });
    copied.into_iter().flatten().chain(bound)
}

fn samplers(pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Vec<Sampler>> {
    let sampler = |&(set, binding): &(u32, u32)| {
        let mut samplers = dispatch.samplers.iter();
        let bound = samplers.find(|bound| (bound.set, bound.binding) == (set, binding));
        let missing = || errors::bad_command(format!("no sampler is bound at set {set} binding {binding}"));
        bound.map(|bound| bound.sampler).ok_or_else(missing)
    };
    pipeline.samplers.iter().map(sampler).collect()
}
