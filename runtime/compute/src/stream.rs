//! Streams and events: which work follows which, and how long it takes.
//!
//! A stream is a queue of the device. Work on one stream runs in order; work on different streams may run at
//! once. Results never depend on it: a submission follows the earlier ones that use its tensors in a
//! conflicting way, whatever their streams. [`Stream::wait`] adds an order where no tensor does.
//!
//! ```
//! use kps_compute::{Manager, Op, Tensor};
//!
//! # fn main() -> Result<(), kps_compute::ComputeError> {
//! let manager = Manager::builder().device(kps_device::Selector::Cpu).open()?;
//! let (a, b) = (manager.tensor(&[1.0f32, 2.0])?, manager.tensor(&[3.0f32, 4.0])?);
//! let (one, other) = (manager.stream()?, manager.stream()?);
//! let began = one.record()?;
//! {
//!     let _on_one = one.enter();
//!     manager.sequence().chain(Op::Multiply(vec![a.clone(), a.clone(), a.clone()])).eval_async()?;
//! }
//! {
//!     let _on_other = other.enter();
//!     manager.sequence().chain(Op::Multiply(vec![b.clone(), b.clone(), b.clone()])).eval_async()?;
//! }
//! let ended = one.record()?;
//! other.wait(&ended)?;
//! assert!(began.elapsed(&ended)? >= 0.0);
//! assert!(manager.sync(None)?);
//! assert_eq!((a.to_vec::<f32>()?, b.to_vec::<f32>()?), (vec![1.0, 4.0], vec![9.0, 16.0]));
//! # Ok(())
//! # }
//! ```

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use kps_device::{Command, Commands, QueueId, Ticket, Waited};

use crate::context::Context;
use crate::error::{ComputeError, Result};

/// A queue of a manager's device. Clones share the stream.
#[derive(Clone)]
pub struct Stream {
    context: Rc<Context>,
    track: Rc<Track>,
}

/// The position of a stream.
pub(crate) struct Track {
    pub queue: QueueId,
    /// What its next submission has to follow besides its predecessors.
    pub waits: RefCell<Vec<Ticket>>,
    pub last: Cell<Option<Ticket>>,
}

/// Work of the manager that chooses no queue goes to the stream until this is dropped.
pub struct Entered {
    context: Rc<Context>,
    track: Rc<Track>,
}

impl Stream {
    pub(crate) fn new(context: &Rc<Context>, queue: QueueId) -> Stream {
        let track = Track { queue, waits: RefCell::default(), last: Cell::new(None) };
        Stream { context: context.clone(), track: Rc::new(track) }
    }

    /// Makes the manager's work go to this stream: launches, and evaluations of sequences without a queue of
    /// their own. The stream that was entered last counts.
    pub fn enter(&self) -> Entered {
        self.context.streams().push(self.track.clone());
        Entered { context: self.context.clone(), track: self.track.clone() }
    }

    /// A new event at the end of the work so far.
    pub fn record(&self) -> Result<Event> {
        let event = Event::new(&self.context);
        self.record_event(&event)?;
        Ok(event)
    }

    /// Moves an event to the end of the work so far.
    pub fn record_event(&self, event: &Event) -> Result<()> {
        self.check_event(event)?;
        let device = self.context.device("record an event on a stream of")?;
        let is_timed = device.info().limits.timestamp_period.is_some();
        let ticket = if is_timed {
            let commands = Commands::once(vec![Command::Timestamp]);
            Some(self.context.submit_to(&self.track, &*device, &commands, &mut Vec::new())?)
        } else {
            self.track.last.get()
        };
        event.mark.set(Some(Mark { ticket, is_timed }));
        Ok(())
    }

    /// Makes further work on this stream follow the event.
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.check_event(event)?;
        self.context.device("wait on a stream of")?;
        self.follow(event.recorded("wait for")?.ticket);
        Ok(())
    }

    /// Makes further work on this stream follow the work so far on another one.
    pub fn wait_for_stream(&self, other: &Stream) -> Result<()> {
        if !Rc::ptr_eq(&self.context, &other.context) {
            return Err(ComputeError::OtherManager { what: "the stream".to_owned() });
        }
        self.context.device("wait on a stream of")?;
        // The work of a stream is in order anyway.
        if !Rc::ptr_eq(&self.track, &other.track) {
            self.follow(other.track.last.get());
            other.track.waits.borrow().iter().for_each(|ticket| self.follow(Some(*ticket)));
        }
        Ok(())
    }

    fn follow(&self, ticket: Option<Ticket>) {
        let running = ticket.filter(|ticket| !self.context.has_ended(*ticket));
        self.track.waits.borrow_mut().extend(running);
    }

    /// Waits for the work so far and for what it follows, `None` without a limit. False if it timed out. It returns
    /// the first error of the work that nobody has waited for.
    pub fn sync(&self, timeout: Option<Duration>) -> Result<bool> {
        self.context.device("wait for a stream of")?;
        let start = Instant::now();
        for ticket in self.open() {
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            if self.context.wait_up_to(ticket, left)? != Waited::Done {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Queries whether the work so far and what it follows has ended. Its error remains for the next wait.
    pub fn is_done(&self) -> Result<bool> {
        self.context.device("ask a stream of")?;
        Ok(self.open().into_iter().all(|ticket| !self.context.is_running(ticket)))
    }

    /// The last submission, and those of other streams that the next one follows.
    fn open(&self) -> Vec<Ticket> {
        self.track.waits.borrow().iter().copied().chain(self.track.last.get()).collect()
    }

    /// The index of its queue among those of the device.
    pub fn queue(&self) -> u32 {
        self.track.queue.0
    }

    fn check_event(&self, event: &Event) -> Result<()> {
        match Rc::ptr_eq(&self.context, &event.context) {
            true => Ok(()),
            false => Err(ComputeError::OtherManager { what: "the event".to_owned() }),
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut streams = self.context.streams();
        if let Some(at) = streams.iter().rposition(|track| Rc::ptr_eq(track, &self.track)) {
            streams.remove(at);
        }
    }
}

/// A point in the work of a stream.
#[derive(Clone)]
pub struct Event {
    context: Rc<Context>,
    mark: Rc<Cell<Option<Mark>>>,
}

#[derive(Clone, Copy)]
struct Mark {
    /// `None` if there was no work before it.
    ticket: Option<Ticket>,
    /// Whether the submission has a timestamp.
    is_timed: bool,
}

impl Event {
    pub(crate) fn new(context: &Rc<Context>) -> Event {
        Event { context: context.clone(), mark: Rc::default() }
    }

    pub fn is_recorded(&self) -> bool {
        self.mark.get().is_some()
    }

    /// Waits for the work before the event, `None` without a limit. False if it timed out.
    pub fn sync(&self, timeout: Option<Duration>) -> Result<bool> {
        self.context.device("wait for an event of")?;
        let ticket = self.recorded("wait for")?.ticket;
        ticket.map_or(Ok(true), |ticket| Ok(self.context.wait_up_to(ticket, timeout)? == Waited::Done))
    }

    /// Queries whether the work before the event has ended. Its error remains for the next wait.
    pub fn is_done(&self) -> Result<bool> {
        self.context.device("ask an event of")?;
        let ticket = self.recorded("ask")?.ticket;
        Ok(ticket.is_none_or(|ticket| !self.context.is_running(ticket)))
    }

    /// Milliseconds from this event to another one, on the device's clock. Waits for both.
    pub fn elapsed(&self, other: &Event) -> Result<f64> {
        if !Rc::ptr_eq(&self.context, &other.context) {
            return Err(ComputeError::OtherManager { what: "the other event".to_owned() });
        }
        let (from, to) = (self.nanoseconds()?, other.nanoseconds()?);
        Ok((to as f64 - from as f64) / 1e6)
    }

    fn nanoseconds(&self) -> Result<u64> {
        let device = self.context.device("read an event of")?;
        let mark = self.recorded("measure from")?;
        let no_clock = || ComputeError::NoClock { device: device.info().name.clone() };
        let ticket = mark.ticket.filter(|_| mark.is_timed).ok_or_else(no_clock)?;
        self.context.wait(ticket, None)?;
        device.timestamps(ticket)?.first().copied().ok_or_else(no_clock)
    }

    fn recorded(&self, operation: &'static str) -> Result<Mark> {
        self.mark.get().ok_or(ComputeError::NotRecorded { operation })
    }
}
