//! A trace of the host's calls and of the commands on each queue, in the format of `chrome://tracing` and
//! Perfetto.
//!
//! Device times are mapped to the host's clock once for each device: a timestamp is submitted, between two
//! readings of the host's clock.

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::ops::Range;
use std::rc::{Rc, Weak};
use std::time::Instant;

use kps_device::{Command, Commands, Device, QueueId, Ticket};

use super::device::ObservedDevice;
use super::timed::{CommandKind, Timed, TimedList};

/// Number of stored events. Later ones are counted only.
const MAX_EVENTS: usize = 2_000_000;
/// Number of timestamps that are submitted to relate the clocks. The one with the shortest round trip counts.
const N_CALIBRATIONS: usize = 5;

/// Records a trace. Clones share it.
#[derive(Clone)]
pub struct Tracer(Rc<Inner>);

struct Inner {
    began: Instant,
    events: RefCell<Vec<Event>>,
    n_dropped: Cell<u64>,
    n_flows: Cell<u64>,
    /// The name of each device; its number is its process in the trace.
    names: RefCell<Vec<String>>,
    devices: RefCell<Vec<Weak<ObservedDevice>>>,
}

struct Event {
    track: Track,
    category: &'static str,
    name: Rc<str>,
    /// Nanoseconds since the trace began.
    start: u64,
    end: u64,
    bytes: Option<u64>,
    /// For a dispatch.
    groups: Option<[u32; 3]>,
    /// Connects a submission with its first command.
    flow: Option<u64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Track {
    Host,
    Queue { device: usize, queue: u32 },
}

/// A call of the host, which ends when this is dropped.
pub struct Span {
    tracer: Tracer,
    category: &'static str,
    name: Rc<str>,
    start: u64,
    bytes: Option<u64>,
    flow: Option<u64>,
}

/// The place of one device in a trace.
pub(super) struct DeviceTrace {
    pub tracer: Tracer,
    number: usize,
    /// What to add to times of the device; `None` if it takes no timestamps.
    offset: Option<i64>,
}

impl Default for Tracer {
    fn default() -> Tracer {
        Tracer(Rc::new(Inner {
            began: Instant::now(),
            events: RefCell::default(),
            n_dropped: Cell::new(0),
            n_flows: Cell::new(0),
            names: RefCell::default(),
            devices: RefCell::default(),
        }))
    }
}

impl std::fmt::Debug for Tracer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tracer")
    }
}

impl Tracer {
    /// A call of a script, such as a launch.
    pub fn span(&self, name: impl Into<Rc<str>>) -> Span {
        self.start("call", name.into())
    }

    pub(super) fn device_span(&self, name: &str, bytes: Option<u64>) -> Span {
        let mut span = self.start("device", name.into());
        span.bytes = bytes;
        span
    }

    fn start(&self, category: &'static str, name: Rc<str>) -> Span {
        Span { tracer: self.clone(), category, name, start: self.now(), bytes: None, flow: None }
    }

    fn now(&self) -> u64 {
        self.0.began.elapsed().as_nanos() as u64
    }

    fn add(&self, event: Event) {
        let mut events = self.0.events.borrow_mut();
        match events.len() < MAX_EVENTS {
            true => events.push(event),
            false => self.0.n_dropped.set(self.0.n_dropped.get() + 1),
        }
    }

    pub(super) fn add_device(&self, device: &dyn Device) -> DeviceTrace {
        let mut names = self.0.names.borrow_mut();
        names.push(device.info().name.clone());
        DeviceTrace { tracer: self.clone(), number: names.len() - 1, offset: self.calibrate(device) }
    }

    pub(super) fn observe(&self, device: &Rc<ObservedDevice>) {
        self.0.devices.borrow_mut().push(Rc::downgrade(device));
    }

    /// The host's clock minus the device's.
    fn calibrate(&self, device: &dyn Device) -> Option<i64> {
        device.info().limits.timestamp_period?;
        let commands = Commands::new(vec![Command::Timestamp]);
        let mut best: Option<(u64, i64)> = None;
        for _ in 0..N_CALIBRATIONS {
            let before = self.now();
            let ticket = device.submit(QueueId(0), &commands, &[]).ok()?;
            device.wait(ticket, None).ok()?;
            let after = self.now();
            let time = *device.timestamps(ticket).ok()?.first()?;
            let candidate = (after - before, before.midpoint(after) as i64 - time as i64);
            best = Some(best.map_or(candidate, |best| best.min(candidate)));
        }
        best.map(|(_, offset)| offset)
    }

    /// The trace so far as JSON. Waits for submitted work.
    pub fn json(&self) -> String {
        let devices: Vec<_> = self.0.devices.borrow().iter().filter_map(Weak::upgrade).collect();
        devices.iter().for_each(|device| device.collect());
        let mut lines = self.metadata();
        for event in &*self.0.events.borrow() {
            event_lines(event, &mut lines);
        }
        let dropped = match self.0.n_dropped.get() {
            0 => String::new(),
            n => format!(", \"otherData\": {{\"dropped events\": \"{n}\"}}"),
        };
        format!("{{\"displayTimeUnit\": \"ns\"{dropped}, \"traceEvents\": [\n{}\n]}}\n", lines.join(",\n"))
    }

    /// The names of processes and threads: the host, and the queues of each device.
    fn metadata(&self) -> Vec<String> {
        let mut lines = vec![process_name(HOST, "host"), thread_name(HOST, 0, "script")];
        for (number, name) in self.0.names.borrow().iter().enumerate() {
            lines.push(process_name(process(number), name));
            let mut queues: Vec<u32> = self
                .0
                .events
                .borrow()
                .iter()
                .filter_map(|event| match event.track {
                    Track::Queue { device, queue } if device == number => Some(queue),
                    _ => None,
                })
                .collect();
            queues.sort_unstable();
            queues.dedup();
            lines.extend(
                queues.iter().map(|queue| thread_name(process(number), *queue, &format!("queue {queue}"))),
            );
        }
        lines
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.tracer.add(Event {
            track: Track::Host,
            category: self.category,
            name: self.name.clone(),
            start: self.start,
            end: self.tracer.now(),
            bytes: self.bytes,
            groups: None,
            flow: self.flow,
        });
    }
}

impl DeviceTrace {
    /// The span of a submission, and its number.
    pub fn submission(&self, queue: QueueId, list: &TimedList) -> (Span, u64) {
        let flow = self.tracer.0.n_flows.get() + 1;
        self.tracer.0.n_flows.set(flow);
        let n = list.timed.len();
        let plural = if n == 1 { "" } else { "s" };
        let name = format!("submit {n} command{plural} to queue {}", queue.0);
        let mut span = self.tracer.start("submission", name.into());
        span.flow = Some(flow);
        (span, flow)
    }

    /// A command that ran within these device times.
    pub fn ran(&self, ticket: Ticket, entry: &Timed, times: Range<u64>, flow: Option<u64>) {
        let Some(offset) = self.offset else { return };
        let on_host = |time: u64| u64::try_from(time as i64 + offset).unwrap_or(0);
        let (category, groups) = match entry.kind {
            CommandKind::Kernel => ("kernel", Some(entry.groups)),
            CommandKind::Copy | CommandKind::Upload | CommandKind::Download => ("copy", None),
        };
        self.tracer.add(Event {
            track: Track::Queue { device: self.number, queue: ticket.queue },
            category,
            name: entry.name.clone(),
            start: on_host(times.start),
            end: on_host(times.end),
            bytes: Some(entry.bytes_read.saturating_add(entry.bytes_written)),
            groups,
            flow,
        });
    }
}

const HOST: usize = 0;

fn process(device: usize) -> usize {
    device + 1
}

fn process_name(process: usize, name: &str) -> String {
    format!(
        r#"{{"ph": "M", "pid": {process}, "tid": 0, "name": "process_name", "args": {{"name": {}}}}}"#,
        quoted(name)
    )
}

fn thread_name(process: usize, thread: u32, name: &str) -> String {
    format!(
        r#"{{"ph": "M", "pid": {process}, "tid": {thread}, "name": "thread_name", "args": {{"name": {}}}}}"#,
        quoted(name)
    )
}

fn event_lines(event: &Event, lines: &mut Vec<String>) {
    let (process, thread) = match event.track {
        Track::Host => (HOST, 0),
        Track::Queue { device, queue } => (process(device), queue),
    };
    let mut args = Vec::new();
    args.extend(event.bytes.map(|bytes| format!(r#""bytes": {bytes}"#)));
    args.extend(event.groups.map(|[x, y, z]| format!(r#""groups": [{x}, {y}, {z}]"#)));
    lines.push(format!(
        r#"{{"ph": "X", "pid": {process}, "tid": {thread}, "cat": "{}", "name": {}, "ts": {}, "dur": {}, "args": {{{}}}}}"#,
        event.category,
        quoted(&event.name),
        microseconds(event.start),
        microseconds(event.end.saturating_sub(event.start)),
        args.join(", ")
    ));
    if let Some(flow) = event.flow {
        // An arrow leaves the submission, and enters its first command.
        let (phase, at) = match event.track {
            Track::Host => (r#""ph": "s""#, event.start),
            Track::Queue { .. } => (r#""ph": "f", "bp": "e""#, event.start),
        };
        lines.push(format!(
            r#"{{{phase}, "pid": {process}, "tid": {thread}, "cat": "submission", "name": "runs", "id": {flow}, "ts": {}}}"#,
            microseconds(at)
        ));
    }
}

/// The unit of the format, to the nanosecond.
fn microseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            char if char < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
