//! A device that times what runs on another one.

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kps_device::{
    BufferId, Command, Commands, Device, DeviceError, DeviceInfo, DeviceMemory, Finding, HostMemory,
    ImageInfo, Imported, Interface, MemoryUsage, PipelineId, PipelineOptions, QueueId, Result, Ticket,
    Waited,
};

use super::profile::Records;
use super::timed::{TimedList, TimedLists};
use super::trace::{DeviceTrace, Tracer};

/// Number of unread submissions at which the oldest are read if they have ended.
const COLLECT_AT: usize = 64;
/// Number of unread submissions at which the oldest are waited for. Devices store the times of as many or more.
const MAX_PENDING: usize = 512;
/// Number of submissions with timestamps of the caller that are remembered.
const MAX_MARKED: usize = 1024;
/// Number of stored errors of submissions that nobody has awaited.
const MAX_FAILED: usize = 64;

/// Every method of [`Device`] is forwarded, those with a default body as well.
pub(crate) struct ObservedDevice {
    inner: Rc<dyn Device>,
    trace: Option<DeviceTrace>,
    /// The records that submissions are added to.
    records: RefCell<Rc<[Records]>>,
    lists: RefCell<TimedLists>,
    /// Submissions whose times were not read yet, oldest first.
    pending: RefCell<VecDeque<Pending>>,
    /// Submissions whose lists have timestamps of their own.
    marked: RefCell<VecDeque<(Ticket, Rc<TimedList>)>>,
    /// Errors that were met while times were read; the next wait for the submission returns them.
    failed: RefCell<VecDeque<(Ticket, DeviceError)>>,
    /// Queues that take no timestamps.
    untimed: RefCell<HashSet<u32>>,
    /// Whether everything is passed on unseen.
    paused: Cell<bool>,
}

struct Pending {
    ticket: Ticket,
    list: Rc<TimedList>,
    records: Rc<[Records]>,
    /// The submission in the trace.
    flow: Option<u64>,
}

enum Patience {
    /// Reads only what has ended.
    Poll,
    /// Waits until at most so many submissions are unread.
    Wait { leave: usize },
}

impl ObservedDevice {
    pub fn new(inner: Rc<dyn Device>, tracer: Option<&Tracer>) -> Rc<ObservedDevice> {
        let trace = tracer.map(|tracer| tracer.add_device(&*inner));
        let device = Rc::new(ObservedDevice {
            inner,
            trace,
            records: RefCell::new(Rc::default()),
            lists: RefCell::default(),
            pending: RefCell::default(),
            marked: RefCell::default(),
            failed: RefCell::default(),
            untimed: RefCell::default(),
            paused: Cell::new(false),
        });
        if let Some(trace) = &device.trace {
            trace.tracer.observe(&device);
        }
        device
    }

    /// From now on, submissions are added to these records as well.
    pub fn start(&self, records: &Records) {
        let all: Vec<Records> = self.records.borrow().iter().chain([records]).cloned().collect();
        self.records.replace(all.into());
    }

    /// From now on, submissions are not added to these records any more.
    pub fn stop(&self, records: &Records) {
        let others: Vec<Records> =
            self.records.borrow().iter().filter(|known| !known.is(records)).cloned().collect();
        self.records.replace(others.into());
    }

    /// Runs a closure whose submissions are not observed.
    pub fn aside<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = self.paused.replace(true);
        let result = run();
        self.paused.set(before);
        result
    }

    /// Waits for all observed submissions, and reads their times.
    pub fn collect(&self) {
        self.read_times(Patience::Wait { leave: 0 });
    }

    /// Whether nothing is observed at this time: see [`ObservedDevice::aside`].
    pub fn is_paused(&self) -> bool {
        self.paused.get()
    }

    fn is_observed(&self) -> bool {
        !self.paused.get() && (self.trace.is_some() || !self.records.borrow().is_empty())
    }

    /// Reads the times of ended submissions. A submission that failed has none.
    fn read_times(&self, patience: Patience) {
        loop {
            let mut pending = self.pending.borrow_mut();
            let timeout = match patience {
                Patience::Wait { leave } if pending.len() > leave => None,
                Patience::Wait { .. } | Patience::Poll => Some(Duration::ZERO),
            };
            let Some(Pending { ticket, list, records, flow }) = pending.pop_front() else { return };
            drop(pending);
            let put_back = || {
                let pending = Pending { ticket, list: list.clone(), records: records.clone(), flow };
                self.pending.borrow_mut().push_front(pending);
            };
            match self.inner.wait(ticket, timeout) {
                Ok(Waited::Done) => {}
                Ok(Waited::TimedOut) => return put_back(),
                Err(DeviceError::Interrupted { .. })
                    if !self.inner.info().capabilities.interrupts_submissions =>
                {
                    return put_back();
                }
                Err(error) => {
                    self.note_failed(ticket, error);
                    continue;
                }
            }
            if let Ok(times) = self.inner.timestamps(ticket) {
                self.note(ticket, &list, &records, flow, &times);
            }
        }
    }

    fn note(&self, ticket: Ticket, list: &TimedList, records: &[Records], flow: Option<u64>, times: &[u64]) {
        for (at, entry) in list.timed.iter().enumerate() {
            let (Some(&start), Some(&end)) = (times.get(entry.before), times.get(entry.after)) else {
                continue;
            };
            records.iter().for_each(|records| records.add(entry, Some(end.saturating_sub(start))));
            if let Some(trace) = &self.trace {
                trace.ran(ticket, entry, start..end.max(start), flow.filter(|_| at == 0));
            }
        }
    }

    fn note_failed(&self, ticket: Ticket, error: DeviceError) {
        let mut failed = self.failed.borrow_mut();
        if failed.len() == MAX_FAILED {
            failed.pop_front();
        }
        failed.push_back((ticket, error));
    }

    fn take_failed(&self, ticket: Ticket) -> Option<DeviceError> {
        let mut failed = self.failed.borrow_mut();
        let at = failed.iter().position(|(failed, _)| *failed == ticket)?;
        failed.remove(at).map(|(_, error)| error)
    }

    /// Submits the list with timestamps; `None` if the queue has none.
    fn submit_timed(
        &self,
        queue: QueueId,
        list: &Rc<TimedList>,
        after: &[Ticket],
        flow: Option<u64>,
    ) -> Option<Result<Ticket>> {
        let has_times = self.inner.info().limits.timestamp_period.is_some();
        if !has_times || self.untimed.borrow().contains(&queue.0) {
            return None;
        }
        match self.inner.submit(queue, &list.commands, after) {
            Ok(ticket) => {
                let (list, records) = (list.clone(), self.records.borrow().clone());
                if !list.callers.is_empty() {
                    let mut marked = self.marked.borrow_mut();
                    if marked.len() == MAX_MARKED {
                        marked.pop_front();
                    }
                    marked.push_back((ticket, list.clone()));
                }
                self.pending.borrow_mut().push_back(Pending { ticket, list, records, flow });
                Some(Ok(ticket))
            }
            // Some queues only copy, and have no timestamps; other reasons appear again without them.
            Err(DeviceError::BadCommand { .. }) => None,
            Err(error) => Some(Err(error)),
        }
    }

    fn submit_untimed(
        &self,
        queue: QueueId,
        list: &TimedList,
        commands: &Commands,
        after: &[Ticket],
    ) -> Result<Ticket> {
        let ticket = self.inner.submit(queue, commands, after)?;
        self.untimed.borrow_mut().insert(queue.0);
        for entry in &list.timed {
            self.records.borrow().iter().for_each(|records| records.add(entry, None));
        }
        Ok(ticket)
    }

    /// A host span of the trace.
    fn span(&self, name: &str, bytes: Option<u64>) -> Option<super::Span> {
        let trace = self.trace.as_ref().filter(|_| !self.paused.get())?;
        Some(trace.tracer.device_span(name, bytes))
    }
}

impl Drop for ObservedDevice {
    fn drop(&mut self) {
        self.collect();
    }
}

impl Device for ObservedDevice {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn memory(&self) -> DeviceMemory {
        self.inner.memory()
    }

    fn alloc(&self, size: u64, usage: MemoryUsage) -> Result<BufferId> {
        let _span = self.span("allocate", Some(size));
        self.inner.alloc(size, usage)
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        let _span = self.span("allocate image", Some(image.n_bytes()));
        self.inner.alloc_image(image)
    }

    fn skip_clearing(&self, buffer: BufferId) {
        self.inner.skip_clearing(buffer);
    }

    fn free(&self, buffer: BufferId) {
        self.inner.free(buffer);
    }

    fn name(&self, buffer: BufferId, name: &str) {
        self.inner.name(buffer, name);
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        let _span = self.span("upload", Some(bytes.len() as u64));
        self.inner.write(buffer, offset, bytes)
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let _span = self.span("download", Some(bytes.len() as u64));
        self.inner.read(buffer, offset, bytes)
    }

    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory> {
        self.inner.host_memory(buffer)
    }

    unsafe fn import(&self, memory: HostMemory) -> Option<Imported> {
        let _span = self.span("pin memory", Some(memory.len as u64));
        // SAFETY: the caller's promise is that of this call.
        unsafe { self.inner.import(memory) }
    }

    fn release(&self, imported: Imported, owner: Box<dyn std::any::Any>) {
        self.inner.release(imported, owner);
    }

    fn is_on_host(&self, buffer: BufferId) -> bool {
        self.inner.is_on_host(buffer)
    }

    fn blank(&self, buffer: BufferId) {
        self.inner.blank(buffer);
    }

    fn wrote(&self, buffer: BufferId, bytes: Range<u64>) {
        self.inner.wrote(buffer, bytes);
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        let _span = self.span("load kernel", None);
        self.inner.load(words, options)
    }

    fn unload(&self, pipeline: PipelineId) {
        self.inner.unload(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        self.inner.interface(pipeline)
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        let has_work = commands.iter().any(|command| *command != Command::Timestamp);
        if !has_work || !self.is_observed() {
            return self.inner.submit(queue, commands, after);
        }
        let list = self.lists.borrow_mut().of(&*self.inner, commands);
        let trace = self.trace.as_ref();
        let span = trace.map(|trace| trace.submission(queue, &list));
        let flow = span.as_ref().map(|(_, flow)| *flow);
        let ticket = match self.submit_timed(queue, &list, after, flow) {
            Some(submitted) => submitted,
            None => self.submit_untimed(queue, &list, commands, after),
        };
        drop(span);
        let n_pending = self.pending.borrow().len();
        if n_pending >= MAX_PENDING {
            self.read_times(Patience::Wait { leave: MAX_PENDING / 2 });
        } else if n_pending.is_multiple_of(COLLECT_AT) {
            self.read_times(Patience::Poll);
        }
        ticket
    }

    fn start_older(&self, age: Duration) -> bool {
        self.inner.start_older(age)
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        if let Some(error) = self.take_failed(ticket) {
            return Err(error);
        }
        let _span = match timeout {
            Some(Duration::ZERO) => None,
            _ => self.span("wait", None),
        };
        self.inner.wait(ticket, timeout)
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        let times = self.inner.timestamps(ticket)?;
        let marked = self.marked.borrow();
        match marked.iter().rev().find(|(marked, _)| *marked == ticket) {
            Some((_, list)) => Ok(list.callers.iter().filter_map(|at| times.get(*at).copied()).collect()),
            None => Ok(times),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        self.inner.findings()
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.inner.interrupt_flag()
    }
}
