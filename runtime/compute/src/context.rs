//! The state that all objects of one manager share: the device, the submissions on its queues, and the
//! objects that end with the manager.

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use kps_device::{Commands, Device, DeviceError, QueueId, Ticket, Waited};

use crate::error::{ComputeError, Result};
use crate::log::{Level, Log};
use crate::memory::Usage;
use crate::observe::{ObservedDevice, Span, Tracer};
use crate::records::Report;
use crate::storage::Storage;
use crate::stream::Track;

pub(crate) struct Context {
    /// `None` after `destroy`.
    device: RefCell<Option<Rc<dyn Device>>>,
    /// The same device, once a profile or a trace observes it.
    observed: RefCell<Option<Rc<ObservedDevice>>>,
    tracer: Option<Tracer>,
    /// The rate that [`Context::peak`] measured.
    peak: OnceCell<Option<f64>>,
    /// The bytes of tensors on the device.
    pub usage: Usage,
    pub log: Log,
    /// The last submission of each queue.
    submitted: RefCell<Vec<u64>>,
    /// The last submission of each queue that is known to have ended.
    ended: RefCell<Vec<u64>>,
    /// The streams that were entered; the last one gets the work.
    streams: RefCell<Vec<Rc<Track>>>,
    /// Errors that were not reported yet.
    failures: RefCell<Vec<(Ticket, DeviceError)>>,
    /// The submission whose error was reported last.
    last_failed: Cell<Option<Ticket>>,
    /// Names of the submissions that may be running, oldest first.
    running: RefCell<VecDeque<(Ticket, Rc<str>)>>,
    /// An abandoned submission; nothing else is started while there is one.
    left_running: OnceCell<Rc<str>>,
    /// Records of kernels that were not taken yet.
    report: RefCell<Report>,
    /// Whether layers for debugging were asked for.
    has_layers: bool,
    dependents: RefCell<Vec<Weak<dyn Dependent>>>,
    /// The number of dependents at which dropped ones are removed.
    sweep_at: Cell<usize>,
}

/// An object that ends with its manager.
pub(crate) trait Dependent {
    /// Destroys it, or returns it to the other manager that owns it.
    fn end_with(&self, context: &Context);

    /// The storage, if it is one.
    fn as_storage(&self) -> Option<&Storage> {
        None
    }
}

/// Limit of stored errors. Each is for the first wait on its submission.
const MAX_FAILURES: usize = 64;

/// Limit of stored submission names.
const MAX_RUNNING: usize = 64;

impl Context {
    pub fn new(device: Rc<dyn Device>, log: Log, tracer: Option<Tracer>) -> Rc<Context> {
        let n_queues = device.info().queues.len().max(1);
        let context = Rc::new(Context {
            device: RefCell::new(Some(device)),
            observed: RefCell::default(),
            tracer,
            peak: OnceCell::new(),
            usage: Usage::default(),
            log,
            submitted: RefCell::new(vec![0; n_queues]),
            ended: RefCell::new(vec![0; n_queues]),
            streams: RefCell::default(),
            failures: RefCell::default(),
            last_failed: Cell::new(None),
            running: RefCell::default(),
            left_running: OnceCell::new(),
            report: RefCell::default(),
            has_layers: std::env::var_os("KOMPUTE_ENV_DEBUG_LAYERS").is_some(),
            dependents: RefCell::default(),
            sweep_at: Cell::new(64),
        });
        if context.tracer.is_some() {
            context.observe();
        }
        context
    }

    /// The device as one that is observed, from now on; `None` after `destroy`.
    pub fn observe(&self) -> Option<Rc<ObservedDevice>> {
        if self.observed.borrow().is_none() {
            let mut device = self.device.borrow_mut();
            let observed = ObservedDevice::new(device.clone()?, self.tracer.as_ref());
            *device = Some(observed.clone());
            self.observed.replace(Some(observed));
        }
        self.observed()
    }

    pub fn observed(&self) -> Option<Rc<ObservedDevice>> {
        self.observed.borrow().clone()
    }

    /// A span of the trace, if there is one.
    pub fn span(&self, name: impl Into<Rc<str>>) -> Option<Span> {
        let tracer = self.tracer.as_ref()?;
        match self.observed() {
            Some(device) if device.is_paused() => None,
            _ => Some(tracer.span(name)),
        }
    }

    /// The most bytes that the device reads and writes in a second. `measure` runs once, unobserved.
    pub fn peak(self: &Rc<Context>, measure: impl FnOnce(&Rc<Context>) -> Option<f64>) -> Option<f64> {
        *self.peak.get_or_init(|| {
            let _span = self.span("measure peak");
            let peak_of_memory = self.usage.peak();
            let measured = match self.observed() {
                Some(device) => device.aside(|| measure(self)),
                None => measure(self),
            };
            self.usage.set_peak(peak_of_memory);
            measured
        })
    }

    /// The rate is not measured, because measuring would be recorded.
    pub fn forget_peak(&self) {
        let _ = self.peak.set(None);
    }

    /// Calls `look` with each storage that was registered.
    pub fn each_storage(&self, mut look: impl FnMut(&Storage)) {
        let dependents: Vec<_> = self.dependents.borrow().iter().filter_map(Weak::upgrade).collect();
        dependents.iter().filter_map(|dependent| dependent.as_storage()).for_each(&mut look);
    }

    /// The device, for `operation`, a verb for the error.
    pub fn device(&self, operation: &'static str) -> Result<Rc<dyn Device>> {
        let device = self.device.borrow().clone();
        let device =
            device.ok_or_else(|| ComputeError::Destroyed { what: "the manager".to_owned(), operation })?;
        match self.left_running.get() {
            None => Ok(device),
            Some(what) => {
                let (what, device) = (what.to_string(), device.info().name.clone());
                Err(ComputeError::StillRunning { what, device, operation })
            }
        }
    }

    pub fn streams(&self) -> RefMut<'_, Vec<Rc<Track>>> {
        self.streams.borrow_mut()
    }

    /// Submits commands to a queue, by default that of the entered stream. What the stream waits for is added to
    /// `after`.
    pub fn submit(
        &self,
        device: &dyn Device,
        queue: Option<QueueId>,
        commands: &Commands,
        after: &mut Vec<Ticket>,
    ) -> Result<Ticket> {
        let track = self.streams.borrow().last().filter(|_| queue.is_none()).cloned();
        match track {
            Some(track) => self.submit_to(&track, device, commands, after),
            None => self.submit_after(device, queue.unwrap_or_default(), commands, after),
        }
    }

    /// Submits commands to a stream.
    pub fn submit_to(
        &self,
        track: &Track,
        device: &dyn Device,
        commands: &Commands,
        after: &mut Vec<Ticket>,
    ) -> Result<Ticket> {
        let waits = track.waits.borrow();
        after.extend(waits.iter().filter(|ticket| !self.has_ended(**ticket)));
        drop(waits);
        let ticket = self.submit_after(device, track.queue, commands, after)?;
        track.waits.borrow_mut().clear();
        track.last.set(Some(ticket));
        Ok(ticket)
    }

    fn submit_after(
        &self,
        device: &dyn Device,
        queue: QueueId,
        commands: &Commands,
        after: &[Ticket],
    ) -> Result<Ticket> {
        let ticket = device.submit(queue, commands, after)?;
        if let Some(submitted) = self.submitted.borrow_mut().get_mut(ticket.queue as usize) {
            *submitted = ticket.value;
        }
        Ok(ticket)
    }

    /// Stores the name of a submission, in case it never ends.
    pub fn started(&self, ticket: Ticket, what: &Rc<str>) {
        let mut running = self.running.borrow_mut();
        while running.front().is_some_and(|(oldest, _)| self.has_ended(*oldest))
            || running.len() == MAX_RUNNING
        {
            running.pop_front();
        }
        running.push_back((ticket, what.clone()));
    }

    pub fn is_alive(&self) -> bool {
        self.device.borrow().is_some()
    }

    pub fn n_queues(&self) -> usize {
        self.ended.borrow().len()
    }

    pub fn register(&self, dependent: Weak<dyn Dependent>) {
        let mut dependents = self.dependents.borrow_mut();
        if dependents.len() >= self.sweep_at.get() {
            dependents.retain(|dependent| dependent.strong_count() > 0);
            self.sweep_at.set((dependents.len() * 2).max(64));
        }
        dependents.push(dependent);
    }

    /// Whether the submission is known to have ended, without a query.
    pub fn has_ended(&self, ticket: Ticket) -> bool {
        self.ended.borrow().get(ticket.queue as usize).is_none_or(|ended| *ended >= ticket.value)
    }

    /// Waits until the submission has ended. Only the first wait returns its error: later reads and launches
    /// do not repeat it.
    pub fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        match self.ask(ticket, timeout)? {
            Waited::TimedOut => Ok(Waited::TimedOut),
            Waited::Done => match self.take_failure(ticket) {
                Some(failure) => Err(failure.into()),
                None => Ok(Waited::Done),
            },
        }
    }

    /// Waits for a submission and all before it on its queue, and returns the first of their errors.
    pub fn wait_up_to(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        if self.ask(ticket, timeout)? == Waited::TimedOut {
            return Ok(Waited::TimedOut);
        }
        let mut failures = self.failures.borrow_mut();
        let is_before = |failed: &Ticket| failed.queue == ticket.queue && failed.value <= ticket.value;
        let first = (0..failures.len())
            .filter(|&at| is_before(&failures[at].0))
            .min_by_key(|&at| failures[at].0.value);
        let Some(first) = first else { return Ok(Waited::Done) };
        let (failed, error) = failures.remove(first);
        self.last_failed.set(Some(failed));
        Err(error.into())
    }

    pub fn last_failed(&self) -> Option<Ticket> {
        self.last_failed.get()
    }

    /// Waits for every submission, and returns the first error that nobody has waited for.
    pub fn wait_for_all(&self, timeout: Option<Duration>) -> Result<Waited> {
        let began = Instant::now();
        let submitted = self.submitted.borrow().clone();
        for (queue, value) in (0..).zip(submitted).filter(|(_, value)| *value > 0) {
            let left = timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
            if self.wait_up_to(Ticket { queue, value }, left)? == Waited::TimedOut {
                return Ok(Waited::TimedOut);
            }
        }
        Ok(Waited::Done)
    }

    /// Queries whether the submission is still running. Its error remains for the next wait.
    pub fn is_running(&self, ticket: Ticket) -> bool {
        self.ask(ticket, Some(Duration::ZERO)) == Ok(Waited::TimedOut)
    }

    /// Waits until the submission has ended, and stores its error.
    fn ask(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        if self.has_ended(ticket) {
            return Ok(Waited::Done);
        }
        let device = self.device("wait for")?;
        let waited = device.wait(ticket, timeout);
        self.log_layers();
        match waited {
            Ok(Waited::TimedOut) => Ok(Waited::TimedOut),
            Ok(Waited::Done) => {
                self.note_all_ended(ticket, &*device);
                Ok(Waited::Done)
            }
            Err(error) => {
                // An interrupted wait leaves the submission running.
                let is_interrupted = matches!(error, DeviceError::Interrupted { .. });
                if is_interrupted && !device.info().capabilities.interrupts_submissions {
                    return Err(self.leave_running(ticket, &*device));
                }
                self.note_all_ended(ticket, &*device);
                self.note_failed(ticket, error);
                Ok(Waited::Done)
            }
        }
    }

    /// Records the end of a submission and of those before it on its queue, with the errors of those.
    fn note_all_ended(&self, ticket: Ticket, device: &dyn Device) {
        let known = self.ended.borrow().get(ticket.queue as usize).copied();
        for value in known.map_or(0..0, |known| known + 1..ticket.value) {
            let earlier = Ticket { value, ..ticket };
            match device.wait(earlier, Some(Duration::ZERO)) {
                Ok(_) | Err(DeviceError::Lost { .. }) => {}
                Err(error) => self.note_failed(earlier, error),
            }
        }
        self.note_ended(ticket);
    }

    /// From now on, nothing else is started.
    fn leave_running(&self, ticket: Ticket, device: &dyn Device) -> ComputeError {
        let running = self.running.borrow();
        let known = running.iter().find(|(started, _)| *started == ticket);
        let what = known.map_or_else(|| Rc::from("a submission"), |(_, what)| what.clone());
        let what = self.left_running.get_or_init(|| what);
        ComputeError::LeftRunning { what: what.to_string(), device: device.info().name.clone() }
    }

    fn take_failure(&self, ticket: Ticket) -> Option<DeviceError> {
        let mut failures = self.failures.borrow_mut();
        let at = failures.iter().position(|(failed, _)| *failed == ticket)?;
        self.last_failed.set(Some(ticket));
        Some(failures.remove(at).1)
    }

    fn note_ended(&self, ticket: Ticket) {
        // Tickets of one queue end in order, so one number for each queue suffices.
        if let Some(ended) = self.ended.borrow_mut().get_mut(ticket.queue as usize) {
            *ended = (*ended).max(ticket.value);
        }
    }

    fn note_failed(&self, ticket: Ticket, error: DeviceError) {
        self.note_ended(ticket);
        let mut failures = self.failures.borrow_mut();
        if failures.len() == MAX_FAILURES {
            failures.remove(0);
        }
        failures.push((ticket, error));
    }

    pub fn add_report(&self, more: Report) {
        let mut report = self.report.borrow_mut();
        report.messages.extend(more.messages);
        report.lost += more.lost;
        report.lost_asserts += more.lost_asserts;
    }

    pub fn take_report(&self) -> Report {
        self.report.take()
    }

    /// Destroys everything that belongs to the manager, then releases the device.
    pub fn destroy(&self) {
        if !self.is_alive() {
            return;
        }
        self.log.event(Level::Debug, || "Kompute Manager Destructor started".to_owned());
        let dependents = std::mem::take(&mut *self.dependents.borrow_mut());
        for dependent in dependents.iter().filter_map(Weak::upgrade) {
            dependent.end_with(self);
        }
        self.close();
    }

    /// Passes on what the debug layers of the device's API said.
    pub fn log_layers(&self) {
        if !self.has_layers {
            return;
        }
        for message in kps_device::vulkan::layer_messages() {
            self.log.event(Level::Debug, || message);
        }
    }

    fn close(&self) {
        self.log_layers();
        self.log.event(Level::Info, || "Destroying device".to_owned());
        drop(self.observed.take());
        drop(self.device.take());
        self.log.event(Level::Debug, || "Kompute Manager Destroyed Device".to_owned());
        self.log.event(Level::Debug, || "Kompute Manager Destroyed Instance".to_owned());
    }
}

impl Drop for Context {
    /// Every object of the manager keeps the context alive, so only the device is left to destroy.
    fn drop(&mut self) {
        if self.is_alive() {
            self.log.event(Level::Debug, || "Kompute Manager Destructor started".to_owned());
            self.close();
        }
    }
}
