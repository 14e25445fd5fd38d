//! The state that all objects of one manager share: the device, the submissions on its queues, and the
//! objects that end with the manager.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::time::Duration;

use kps_device::{Device, DeviceError, Ticket, Waited};

use crate::error::{ComputeError, Result};
use crate::log::{Level, Log};
use crate::records::Report;

pub(crate) struct Context {
    /// `None` after `destroy`.
    device: RefCell<Option<Rc<dyn Device>>>,
    pub log: Log,
    /// The last submission of each queue that is known to have ended.
    ended: RefCell<Vec<u64>>,
    /// Errors that were not reported yet.
    failures: RefCell<Vec<(Ticket, DeviceError)>>,
    /// Names of the submissions that may be running, oldest first.
    running: RefCell<VecDeque<(Ticket, Rc<str>)>>,
    /// An abandoned submission; nothing else is started while there is one.
    left_running: OnceCell<Rc<str>>,
    /// Records of kernels that were not taken yet.
    report: RefCell<Report>,
    dependents: RefCell<Vec<Weak<dyn Dependent>>>,
    /// The number of dependents at which dropped ones are removed.
    sweep_at: Cell<usize>,
}

/// An object that ends with its manager.
pub(crate) trait Dependent {
    /// Destroys it, or returns it to the other manager that owns it.
    fn end_with(&self, context: &Context);
}

/// Limit of stored errors. Each is for the first wait on its submission.
const MAX_FAILURES: usize = 64;

/// Limit of stored submission names.
const MAX_RUNNING: usize = 64;

impl Context {
    pub fn new(device: Rc<dyn Device>, log: Log) -> Rc<Context> {
        let n_queues = device.info().queues.len().max(1);
        Rc::new(Context {
            device: RefCell::new(Some(device)),
            log,
            ended: RefCell::new(vec![0; n_queues]),
            failures: RefCell::default(),
            running: RefCell::default(),
            left_running: OnceCell::new(),
            report: RefCell::default(),
            dependents: RefCell::default(),
            sweep_at: Cell::new(64),
        })
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
        match device.wait(ticket, timeout) {
            Ok(Waited::TimedOut) => Ok(Waited::TimedOut),
            Ok(Waited::Done) => {
                self.note_ended(ticket);
                Ok(Waited::Done)
            }
            Err(error) => {
                // An interrupted wait leaves the submission running.
                let is_interrupted = matches!(error, DeviceError::Interrupted { .. });
                if is_interrupted && !device.info().capabilities.interrupts_submissions {
                    return Err(self.leave_running(ticket, &*device));
                }
                self.note_failed(ticket, error);
                Ok(Waited::Done)
            }
        }
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

    fn close(&self) {
        self.log.event(Level::Info, || "Destroying device".to_owned());
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
