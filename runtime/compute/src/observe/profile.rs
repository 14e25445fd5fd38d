//! The profile of a manager: a row for each kernel, with the times that the device measured.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use kps_device::{DeviceKind, QueueId};
use rustc_hash::FxHashMap;

pub use super::timed::CommandKind as RowKind;
use super::timed::Timed;
use crate::DType;
use crate::context::Context;
use crate::error::Result;
use crate::op::Op;
use crate::plan::Timestamps;
use crate::sequence::Sequence;
use crate::storage::MemoryType;
use crate::tensor::{Builder, Tensor};

/// Number of times of a kernel that are stored for its median.
const MAX_TIMES: usize = 1 << 20;

/// Measures the commands of a manager while it runs. Results accumulate over several starts.
pub struct Profile {
    context: Rc<Context>,
    records: Records,
    is_running: Cell<bool>,
}

/// All runs of one kernel, or all copies of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub kind: RowKind,
    pub name: String,
    pub count: u64,
    /// The time of all runs; `None` if the device takes no timestamps.
    pub total: Option<Duration>,
    pub median: Option<Duration>,
    /// Bytes of what the runs bound for reading, and for writing. An upload only writes, and a download only reads.
    pub bytes_read: u64,
    pub bytes_written: u64,
}

impl Row {
    /// Bytes read and written in a second.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let seconds = self.total?.as_secs_f64();
        (seconds > 0.0).then(|| self.bytes_read.saturating_add(self.bytes_written) as f64 / seconds)
    }

    /// That rate as a part of the device's peak. What the bus to the host limits has none.
    pub fn share(&self, peak: Option<f64>) -> Option<f64> {
        match self.kind {
            RowKind::Kernel | RowKind::Copy => Some(self.bytes_per_second()? / peak?),
            RowKind::Upload | RowKind::Download => None,
        }
    }
}

impl Profile {
    pub(crate) fn new(context: &Rc<Context>) -> Profile {
        Profile { context: context.clone(), records: Records::default(), is_running: Cell::new(false) }
    }

    /// Begins to measure. Starting a running profile does nothing.
    pub fn start(&self) -> Result<()> {
        self.context.device("profile")?;
        if !self.is_running.replace(true)
            && let Some(device) = self.context.observe()
        {
            device.start(&self.records);
        }
        Ok(())
    }

    /// Ends measuring, and waits for what was measured. Stopping a stopped profile does nothing.
    pub fn stop(&self) {
        if self.is_running.replace(false)
            && let Some(device) = self.context.observed()
        {
            device.stop(&self.records);
            device.collect();
        }
    }

    pub fn is_running(&self) -> bool {
        self.is_running.get()
    }

    /// The rows so far, those with the longest total first. Waits for what a running profile has measured.
    pub fn rows(&self) -> Vec<Row> {
        if self.is_running()
            && let Some(device) = self.context.observed()
        {
            device.collect();
        }
        self.records.rows()
    }

    /// The most bytes that the device reads and writes in a second, measured once for each manager.
    pub fn peak(&self) -> Option<f64> {
        self.context.peak(measure_peak)
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        if self.is_running.get()
            && let Some(device) = self.context.observed()
        {
            device.stop(&self.records);
        }
    }
}

/// The measurements of one profile. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Records(Rc<RefCell<SamplesByRow>>);

type SamplesByRow = FxHashMap<(RowKind, Rc<str>), Samples>;

#[derive(Default)]
struct Samples {
    count: u64,
    total: u64,
    times: Vec<u64>,
    bytes_read: u64,
    bytes_written: u64,
}

impl Records {
    pub fn is(&self, other: &Records) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Adds a run; `time` is in nanoseconds.
    pub fn add(&self, entry: &Timed, time: Option<u64>) {
        let mut records = self.0.borrow_mut();
        let samples = records.entry((entry.kind, entry.name.clone())).or_default();
        samples.count += 1;
        samples.bytes_read = samples.bytes_read.saturating_add(entry.bytes_read);
        samples.bytes_written = samples.bytes_written.saturating_add(entry.bytes_written);
        if let Some(time) = time {
            samples.total = samples.total.saturating_add(time);
            if samples.times.len() < MAX_TIMES {
                samples.times.push(time);
            }
        }
    }

    fn rows(&self) -> Vec<Row> {
        let row = |((kind, name), samples): (&(RowKind, Rc<str>), &Samples)| {
            let is_timed = !samples.times.is_empty();
            Row {
                kind: *kind,
                name: name.to_string(),
                count: samples.count,
                total: is_timed.then(|| Duration::from_nanos(samples.total)),
                median: median(&samples.times).map(Duration::from_nanos),
                bytes_read: samples.bytes_read,
                bytes_written: samples.bytes_written,
            }
        };
        let mut rows: Vec<Row> = self.0.borrow().iter().map(row).collect();
        rows.sort_by(|one, other| other.total.cmp(&one.total).then_with(|| one.name.cmp(&other.name)));
        rows
    }
}

/// Of an even number of times, the mean of the middle two.
fn median(times: &[u64]) -> Option<u64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        0 => Some(sorted[middle - 1].midpoint(sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

/// Runs a copy and a product of two tensors, and returns the higher rate of bytes read and written. `None`
/// where memory or timestamps are missing.
fn measure_peak(context: &Rc<Context>) -> Option<f64> {
    let device = context.device("measure").ok()?;
    device.info().limits.timestamp_period?;
    // Larger than the caches, and small compared with the memory.
    let n_bytes: usize = if device.info().kind == DeviceKind::Discrete { 128 << 20 } else { 8 << 20 };
    let shape = [n_bytes / 4];
    let tensor = || Builder::new(DType::F32, &shape).memory(MemoryType::Storage).zeros().ok();
    let [a, b, c]: [Tensor; 3] = [tensor()?, tensor()?, tensor()?];
    let sequence = Sequence::new(context, Some(QueueId(0)), Timestamps::On);
    sequence.record(Op::Copy(vec![a.clone(), b.clone()])).ok()?;
    sequence.record(Op::Multiply(vec![a, b, c])).ok()?;
    let mut best = 0.0_f64;
    // The first run pays for fresh memory and for compiling.
    for round in 0..4 {
        sequence.eval().ok()?;
        let times = sequence.timestamps().ok()?;
        let [start, copied, multiplied] = times[..] else { return None };
        let rate = |n: usize, time: u64| (n * n_bytes) as f64 / (time.max(1) as f64 * 1e-9);
        if round > 0 {
            let rates = rate(2, copied.saturating_sub(start)).max(rate(3, multiplied.saturating_sub(copied)));
            best = best.max(rates);
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_in_the_middle() {
        let check = |times: &[u64], expect| assert_eq!(median(times), expect, "{times:?}");
        check(&[], None);
        check(&[7], Some(7));
        check(&[9, 1], Some(5));
        check(&[3, 100, 1], Some(3));
    }
}
