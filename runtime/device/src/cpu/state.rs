//! The state of an open device: its buffers, loaded modules and results of submissions. It checks all
//! commands before the first of them runs, and resolves bindings into slots.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::buffers::Buffers;
use super::emit::context::Slot;
use super::images::ImageView;
use super::info::{MAX_GROUPS, NAME};
use super::library::{Key, Loaded};
use super::pipeline::Pipeline;
use super::pool::Pool;
use super::{errors, instrumentation};
use crate::command;
use crate::image::{misfit, unfilterable};
use crate::interface::ImageBinding;
use crate::{
    BufferId, Check, Command, DeviceError, Dispatch, Finding, Instrument, Interface, Limit, PipelineId,
    Result, Sampler, Ticket,
};

/// Maximum number of stored results. The oldest are dropped first.
const MAX_SUBMISSIONS: usize = 4096;

pub struct State {
    pub pool: Pool,
    pub buffers: Buffers,
    loaded: FxHashMap<PipelineId, Loaded>,
    n_loaded: u64,
    ids: FxHashMap<Key, PipelineId>,
    n_submitted: u64,
    /// Results of submissions that failed or took timestamps.
    submissions: BTreeMap<u64, Submission>,
    /// Findings that were not read yet.
    pub findings: Vec<Finding>,
}

/// The result of a submission.
pub struct Submission {
    pub timestamps: Vec<u64>,
    pub result: Result<()>,
}

impl State {
    pub fn new() -> State {
        State {
            pool: Pool::new(),
            buffers: Buffers::default(),
            loaded: FxHashMap::default(),
            n_loaded: 0,
            ids: FxHashMap::default(),
            n_submitted: 0,
            submissions: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    pub fn load(&mut self, key: Key) -> Result<PipelineId> {
        if let Some(id) = self.ids.get(&key) {
            self.loaded.get_mut(id).expect("what has an id is loaded").n_loads += 1;
            return Ok(*id);
        }
        let id = PipelineId(self.n_loaded);
        self.loaded.insert(id, Loaded::load(key.clone())?);
        self.n_loaded += 1;
        self.ids.insert(key, id);
        Ok(id)
    }

    /// No submission is running, so the pipeline may go at once. The library caches the code.
    pub fn unload(&mut self, id: PipelineId) {
        let Some(loaded) = self.loaded.get_mut(&id) else { return };
        loaded.n_loads -= 1;
        if loaded.n_loads == 0 {
            self.ids.remove(loaded.key());
            self.loaded.remove(&id);
        }
    }

    fn loaded(&self, id: PipelineId) -> Result<&Loaded> {
        self.loaded.get(&id).ok_or(DeviceError::UnknownId { kind: "pipeline" })
    }

    pub fn pipeline(&self, id: PipelineId) -> Result<Arc<Pipeline>> {
        self.loaded(id)?.pipeline()
    }

    pub fn interface(&self, id: PipelineId) -> Result<Arc<Interface>> {
        Ok(self.loaded(id)?.interface.clone())
    }

    /// Stores the result of a submission that failed or took timestamps.
    pub fn submitted(&mut self, submission: Submission) -> Ticket {
        self.n_submitted += 1;
        if submission.result.is_err() || !submission.timestamps.is_empty() {
            self.submissions.insert(self.n_submitted, submission);
            if self.submissions.len() > MAX_SUBMISSIONS {
                self.submissions.pop_first();
            }
        }
        Ticket { queue: 0, value: self.n_submitted }
    }

    pub fn submission(&self, ticket: Ticket) -> Result<Option<&Submission>> {
        self.check_ticket(ticket)?;
        Ok(self.submissions.get(&ticket.value))
    }

    pub fn check_ticket(&self, ticket: Ticket) -> Result<()> {
        match ticket {
            Ticket { queue: 0, value } if (1..=self.n_submitted).contains(&value) => Ok(()),
            _ => Err(DeviceError::UnknownId { kind: "ticket" }),
        }
    }

    /// Checks that a command can run.
    pub fn check(&self, command: &Command) -> Result<()> {
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
                what: Limit::Other("the number of workgroups"),
                asked,
                limit,
                device,
            });
        }
        self.push_constants(&pipeline, dispatch)?;
        pipeline.interface.images.iter().try_for_each(|wanted| self.check_image(wanted, dispatch))?;
        samplers(&pipeline, dispatch)?;
        self.slots(&pipeline, dispatch).map(|_| ())
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
    pub fn slots(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Vec<Slot>> {
        let slot = |&(set, binding): &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter();
            let bound = bindings.find(|bound| (bound.set, bound.binding) == (set, binding));
            self.buffers.bound(bound.ok_or_else(|| errors::nothing_bound(set, binding))?)
        };
        pipeline.buffers.iter().map(slot).collect()
    }

    /// The push constants, with the addresses of buffers filled in.
    pub fn push_constants<'d>(&self, pipeline: &Pipeline, dispatch: &'d Dispatch) -> Result<Cow<'d, [u8]>> {
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
    pub fn written(
        &mut self,
        pipeline: &Pipeline,
        dispatch: &Dispatch,
    ) -> Vec<Option<instrumentation::Written>> {
        let is_watched = matches!(pipeline.instrument, Instrument::Checked(checks) if checks.has(Check::DeviceUninitialised));
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
        pipeline.buffers.iter().chain(&pipeline.images).map(written).collect()
    }

    /// The view of each image that the code uses.
    pub fn image_views(&self, pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Vec<ImageView>> {
        let view = |&(set, binding): &(u32, u32)| {
            let mut bindings = dispatch.bindings.iter();
            let bound = bindings.find(|bound| (bound.set, bound.binding) == (set, binding));
            let bound = bound.ok_or_else(|| errors::nothing_bound(set, binding))?;
            self.buffers.view(bound.buffer)
        };
        pipeline.images.iter().map(view).collect()
    }

    pub fn copy(&mut self, from: (BufferId, u64), to: (BufferId, u64), size: u64) -> Result<()> {
        self.buffers.copied(from, to, size);
        let from = self.buffers.range(from.0, from.1, size)?;
        let to = self.buffers.range(to.0, to.1, size)?;
        // SAFETY: both ranges were checked against their buffers.
        unsafe { std::ptr::copy(from.base, to.base, size as usize) };
        Ok(())
    }
}

pub fn samplers(pipeline: &Pipeline, dispatch: &Dispatch) -> Result<Vec<Sampler>> {
    let sampler = |&(set, binding): &(u32, u32)| {
        let mut samplers = dispatch.samplers.iter();
        let bound = samplers.find(|bound| (bound.set, bound.binding) == (set, binding));
        let missing = || errors::bad_command(format!("no sampler is bound at set {set} binding {binding}"));
        bound.map(|bound| bound.sampler).ok_or_else(missing)
    };
    pipeline.samplers.iter().map(sampler).collect()
}
