//! Sequences: operations that are recorded once, and run any number of times.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::time::Duration;

use kps_device::{QueueId, Ticket, Waited};
use rustc_hash::FxHashMap;

use crate::algorithm::Algorithm;
use crate::constants::Push;
use crate::context::{Context, Dependent};
use crate::error::{ComputeError, Result};
use crate::grid::Extent;
use crate::op::{self, Op, Step};
use crate::plan::{Plan, Timestamps};
use crate::tensor::Tensor;

/// A list of operations for one queue. Clones share the sequence.
///
/// Recording begins implicitly, and begins again after an evaluation. The chaining methods store the first
/// error for `eval` to return.
#[derive(Clone)]
pub struct Sequence {
    inner: Rc<Inner>,
}

struct Inner {
    context: Rc<Context>,
    /// `None` is the queue of the stream that is entered when it runs.
    queue: Option<QueueId>,
    timestamps: Timestamps,
    destroyed: Cell<bool>,
    state: RefCell<State>,
}

/// The caller's data about where something was recorded.
pub type Origin = Rc<dyn Any>;

#[derive(Default)]
struct State {
    steps: Vec<Step>,
    /// The operations that gave the steps.
    ops: Vec<Op>,
    /// For each step that was recorded with one.
    origins: FxHashMap<usize, Origin>,
    recording: bool,
    /// Whether the steps have run: the next recording starts a new list.
    evaluated: bool,
    plan: Option<Plan>,
    running: Option<Running>,
    /// The last submission, for its timestamps.
    last: Option<Ticket>,
    mistake: Option<ComputeError>,
}

/// A submission that was not awaited yet; without a ticket if there was nothing to submit.
#[derive(Clone, Copy)]
struct Running {
    ticket: Option<Ticket>,
}

impl Sequence {
    pub(crate) fn new(context: &Rc<Context>, queue: Option<QueueId>, timestamps: Timestamps) -> Sequence {
        let (state, destroyed) = (RefCell::default(), Cell::new(false));
        let inner = Rc::new(Inner { context: context.clone(), queue, timestamps, destroyed, state });
        let weak: Weak<Inner> = Rc::downgrade(&inner);
        context.register(weak);
        Sequence { inner }
    }

    /// Records an upload; see [`Op::SyncDevice`].
    pub fn upload(self, tensors: &[&Tensor]) -> Sequence {
        self.chain(Op::SyncDevice(owned(tensors)))
    }

    /// Records a download; see [`Op::SyncLocal`].
    pub fn download(self, tensors: &[&Tensor]) -> Sequence {
        self.chain(Op::SyncLocal(owned(tensors)))
    }

    /// Records a copy of one tensor to another of the same type and size.
    pub fn copy(self, from: &Tensor, to: &Tensor) -> Sequence {
        self.chain(Op::Copy(vec![from.clone(), to.clone()]))
    }

    /// Records a dispatch with the algorithm's own push constants.
    pub fn dispatch(self, algorithm: &Algorithm, extent: impl Into<Extent>) -> Sequence {
        self.dispatch_with(algorithm, extent, Push::Default)
    }

    /// Records a dispatch with push constants of its own.
    pub fn dispatch_with(
        self,
        algorithm: &Algorithm,
        extent: impl Into<Extent>,
        push: impl Into<Push>,
    ) -> Sequence {
        let (extent, push) = (extent.into(), push.into());
        self.chain(Op::Dispatch { algorithm: algorithm.clone(), extent, push })
    }

    /// Records any operation, and stores the error if there is one.
    pub fn chain(self, op: Op) -> Sequence {
        if let Err(mistake) = self.record(op) {
            self.inner.state.borrow_mut().mistake.get_or_insert(mistake);
        }
        self
    }

    /// Discards the recorded operations and starts recording.
    pub fn begin(&self) -> Result<()> {
        self.check_idle("begin")?;
        let mut state = self.inner.state.borrow_mut();
        if state.recording {
            return Err(ComputeError::AlreadyRecording);
        }
        state.forget();
        state.recording = true;
        Ok(())
    }

    /// Stops recording.
    pub fn end(&self) -> Result<()> {
        self.check_idle("end")?;
        let mut state = self.inner.state.borrow_mut();
        if !state.recording {
            return Err(ComputeError::NotRecording);
        }
        state.recording = false;
        Ok(())
    }

    /// Checks and adds an operation. Starts a new list if the old one has been evaluated.
    pub fn record(&self, op: Op) -> Result<()> {
        self.record_steps(op).map(drop)
    }

    /// The same, with its origin for [`Sequence::origin`].
    pub fn record_from(&self, op: Op, origin: Origin) -> Result<()> {
        let steps = self.record_steps(op)?;
        let mut state = self.inner.state.borrow_mut();
        state.origins.extend(steps.map(|step| (step, origin.clone())));
        Ok(())
    }

    fn record_steps(&self, op: Op) -> Result<Range<usize>> {
        self.check_idle("record into")?;
        let steps = op::record(&self.inner.context, op.clone())?;
        let mut state = self.inner.state.borrow_mut();
        if state.evaluated {
            state.forget();
        }
        state.recording = true;
        state.plan = None;
        let first = state.steps.len();
        state.steps.extend(steps);
        state.ops.push(op);
        Ok(first..state.steps.len())
    }

    /// The origin of a dispatch, by its index among the dispatches of the list.
    pub fn origin(&self, dispatch: usize) -> Option<Origin> {
        let state = self.inner.state.borrow();
        let is_dispatch = |(_, step): &(usize, &Step)| matches!(step, Step::Dispatch { .. });
        let (step, _) = state.steps.iter().enumerate().filter(is_dispatch).nth(dispatch)?;
        state.origins.get(&step).cloned()
    }

    /// Discards the recorded operations.
    pub fn clear(&self) -> Result<()> {
        self.check_idle("clear")?;
        self.inner.state.borrow_mut().forget();
        Ok(())
    }

    /// Records the same operations again: dispatches bind the present tensors of their algorithms.
    pub fn rerecord(&self) -> Result<()> {
        self.check_idle("record into")?;
        let ops = self.inner.state.borrow().ops.clone();
        let mut steps = Vec::new();
        for op in ops {
            steps.extend(op::record(&self.inner.context, op)?);
        }
        let mut state = self.inner.state.borrow_mut();
        state.plan = None;
        if steps.len() != state.steps.len() {
            // A slice that needs copies took the place of one that needs none, or the other way round.
            state.origins.clear();
        }
        state.steps = steps;
        Ok(())
    }

    /// Runs the recorded operations and waits for them.
    pub fn eval(&self) -> Result<()> {
        let _span = self.inner.context.span("eval");
        self.eval_async()?;
        self.eval_await(None).map(drop)
    }

    /// Starts the recorded operations. Host reads wait for them.
    pub fn eval_async(&self) -> Result<()> {
        let _span = self.inner.context.span("eval_async");
        self.check_idle("evaluate")?;
        let inner = &*self.inner;
        let mut state = inner.state.borrow_mut();
        if let Some(mistake) = state.mistake.take() {
            state.forget();
            return Err(mistake);
        }
        let device = inner.context.device("evaluate a sequence of")?;
        state.recording = false;
        state.evaluated = true;
        let State { steps, plan, .. } = &mut *state;
        let plan = plan.get_or_insert_with(|| Plan::of(steps));
        let commands = plan.prepare(&inner.context, steps, inner.timestamps)?;
        let mut ticket = None;
        if !commands.is_empty() {
            let after = &mut plan.predecessors();
            let submitted = inner.context.submit(&*device, inner.queue, &commands, after)?;
            plan.submitted(submitted);
            inner.context.started(submitted, plan.title(steps));
            ticket = Some(submitted);
        }
        let has_records = plan.has_records();
        state.last = ticket;
        state.running = Some(Running { ticket });
        // Prints of kernels come before anything that the host does next, so the evaluation is awaited.
        if let Some(ticket) = ticket.filter(|_| has_records) {
            inner.context.wait(ticket, None)?;
            let State { steps, plan, .. } = &mut *state;
            plan.iter().try_for_each(|plan| plan.report(&inner.context, steps))?;
        }
        Ok(())
    }

    /// Waits for `eval_async`, `None` without a limit, and downloads the requested tensors. False if it timed
    /// out and is still running.
    pub fn eval_await(&self, timeout: Option<Duration>) -> Result<bool> {
        self.check_alive("await")?;
        let running = self.inner.state.borrow().running;
        let Some(Running { ticket }) = running else { return Ok(true) };
        let _span = self.inner.context.span("eval_await");
        if let Some(ticket) = ticket {
            let waited = self.inner.context.wait(ticket, timeout);
            if waited == Ok(Waited::TimedOut) {
                return Ok(false);
            }
            if waited.is_ok() || self.inner.context.has_ended(ticket) {
                self.inner.state.borrow_mut().running = None;
            }
            waited?;
        }
        let mut state = self.inner.state.borrow_mut();
        state.running = None;
        if let Some(plan) = &state.plan {
            plan.await_uploads()?;
            plan.download()?;
        }
        Ok(true)
    }

    /// Nanoseconds on a clock with an arbitrary origin: before the first operation, and after each.
    pub fn timestamps(&self) -> Result<Vec<u64>> {
        self.check_alive("read the timestamps of")?;
        if self.inner.timestamps == Timestamps::Off {
            return Err(ComputeError::NoTimestamps);
        }
        let last = self.inner.state.borrow().last;
        let ticket = last.ok_or(ComputeError::NotEvaluated)?;
        self.inner.context.wait(ticket, None)?;
        Ok(self.inner.context.device("read timestamps of")?.timestamps(ticket)?)
    }

    /// The submission of the last evaluation, if there was anything to submit.
    pub fn submission(&self) -> Option<Ticket> {
        self.inner.state.borrow().last
    }

    pub fn is_recording(&self) -> bool {
        self.inner.state.borrow().recording
    }

    /// Queries whether `eval_async` is still running.
    pub fn is_running(&self) -> bool {
        let running = self.inner.state.borrow().running;
        let Some(Running { ticket: Some(ticket) }) = running else { return false };
        self.inner.context.is_running(ticket)
    }

    /// Whether both are the same sequence.
    pub fn is(&self, other: &Sequence) -> bool {
        Rc::ptr_eq(&self.inner, &other.inner)
    }

    /// A number that no other sequence has while this one exists.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.inner).addr()
    }

    /// False after it, or its manager, was destroyed.
    pub fn is_init(&self) -> bool {
        !self.inner.destroyed.get()
    }

    /// Discards everything recorded, and makes any further use an error. Running work continues.
    pub fn destroy(&self) {
        self.inner.destroy();
    }

    fn check_alive(&self, operation: &'static str) -> Result<()> {
        if self.is_init() {
            return Ok(());
        }
        Err(ComputeError::Destroyed { what: "the sequence".to_owned(), operation })
    }

    /// An unfinished evaluation prevents most operations; an ended one is completed first.
    fn check_idle(&self, operation: &'static str) -> Result<()> {
        self.check_alive(operation)?;
        if self.inner.state.borrow().running.is_some() && !self.eval_await(Some(Duration::ZERO))? {
            return Err(ComputeError::Running { operation });
        }
        Ok(())
    }
}

impl State {
    fn forget(&mut self) {
        self.steps.clear();
        self.ops.clear();
        self.origins.clear();
        self.plan = None;
        self.recording = false;
        self.evaluated = false;
        self.mistake = None;
    }
}

impl Inner {
    fn destroy(&self) {
        self.destroyed.set(true);
        if let Ok(mut state) = self.state.try_borrow_mut() {
            *state = State::default();
        }
    }
}

impl Dependent for Inner {
    fn end_with(&self, _context: &Context) {
        self.destroy();
    }
}

fn owned(tensors: &[&Tensor]) -> Vec<Tensor> {
    tensors.iter().copied().cloned().collect()
}
