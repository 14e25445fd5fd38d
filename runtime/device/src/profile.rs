//! The cost of kernels, line by line, as a GPU with warps of 32 lanes would have it.
//!
//! A device opened with a [`Recorder`] records each dispatch. The counts depend on the program only, and are
//! the same in every run; only times are measured.
//!
//! A warp is 32 invocations with consecutive indices in the workgroup. Lanes of a warp execute the n-th visit
//! to an instruction since the last barrier together: their accesses are one request.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::SourceLine;

/// Lanes of a warp.
pub const WARP: u32 = 32;
/// Bytes of one memory transaction.
pub const SECTOR: u64 = 32;
/// Banks of shared memory, each four bytes wide.
pub const BANKS: u64 = 32;

/// The counters of a line, over all invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Scalar operations of the CPU device; each component of a vector counts.
    pub instructions: u64,
    /// Accesses to buffers.
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Requests of warps to buffers, the sectors that they touch, and the minimum for their bytes.
    pub requests: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Requests of warps to shared memory, the passes that they take because each bank serves one word at a
    /// time, and the minimum for their words.
    pub shared_requests: u64,
    pub shared_passes: u64,
    pub ideal_passes: u64,
    /// Branches that warps executed, and those at which their lanes diverged.
    pub branches: u64,
    pub parted: u64,
}

impl Counts {
    pub fn add(&mut self, more: &Counts) {
        self.instructions += more.instructions;
        self.bytes_read += more.bytes_read;
        self.bytes_written += more.bytes_written;
        self.requests += more.requests;
        self.sectors += more.sectors;
        self.ideal_sectors += more.ideal_sectors;
        self.shared_requests += more.shared_requests;
        self.shared_passes += more.shared_passes;
        self.ideal_passes += more.ideal_passes;
        self.branches += more.branches;
        self.parted += more.parted;
    }
}

/// The cost of a line; `None` for instructions without one.
pub type LineCounts = (Option<SourceLine>, Counts);

/// All dispatches of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelProfile {
    pub name: String,
    pub dispatches: u64,
    pub invocations: u64,
    /// Includes the time for counting.
    pub time: Duration,
    /// Each line once, in the order of first execution.
    pub lines: Vec<LineCounts>,
}

/// Collects the profiles of devices. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Rc<RefCell<Vec<KernelProfile>>>);

impl Recorder {
    /// The recorded kernels, in the order of their first dispatch.
    pub fn kernels(&self) -> Vec<KernelProfile> {
        self.0.borrow().clone()
    }

    /// Runs a closure whose dispatches are not recorded.
    pub fn aside<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = self.kernels();
        let result = run();
        self.0.replace(before);
        result
    }

    pub(crate) fn add(&self, name: &str, invocations: u64, time: Duration, lines: Vec<LineCounts>) {
        let mut kernels = self.0.borrow_mut();
        let is_same = |kernel: &KernelProfile| kernel.name == name && shares_a_line(kernel, &lines);
        let at = kernels.iter().position(is_same).unwrap_or_else(|| {
            let name = name.to_owned();
            let time = Duration::ZERO;
            kernels.push(KernelProfile { name, dispatches: 0, invocations: 0, time, lines: Vec::new() });
            kernels.len() - 1
        });
        let kernel = &mut kernels[at];
        kernel.dispatches += 1;
        kernel.invocations += invocations;
        kernel.time += time;
        for (line, counts) in lines {
            match kernel.lines.iter_mut().find(|(known, _)| *known == line) {
                Some((_, known)) => known.add(&counts),
                None => kernel.lines.push((line, counts)),
            }
        }
    }
}

/// Distinguishes kernels of one name: those that share a line are the same.
fn shares_a_line(kernel: &KernelProfile, lines: &[LineCounts]) -> bool {
    kernel.lines.is_empty()
        || lines.iter().any(|(line, _)| kernel.lines.iter().any(|(known, _)| known == line))
}
