//! What kernels cost, line by line, as a GPU would see it whose warps have 32 lanes.
//!
//! A device that was opened with a [`Recorder`] adds each dispatch to it. The counts are of the program, not of
//! the machine it runs on, and the same in every run; only the times are measured.
//!
//! A warp is 32 neighbours by their index in the workgroup. Lanes of a warp that come to an instruction for the
//! same n-th time since the last barrier come to it together: their accesses are one request.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use crate::SourceLine;

/// Lanes of a warp.
pub const WARP: u32 = 32;
/// Bytes that memory moves at once.
pub const SECTOR: u64 = 32;
/// Banks of shared memory, each four bytes wide.
pub const BANKS: u64 = 32;

/// What is counted of a line, over all invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Scalar operations of the built-in device; those of a vector count one by one.
    pub instructions: u64,
    /// Of buffers.
    pub bytes_read: u64,
    pub bytes_written: u64,
    /// Accesses of warps to buffers, the sectors that they touch, and as few as would hold their bytes.
    pub requests: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Accesses of warps to shared memory, the passes that they take because each bank gives one word at a
    /// time, and as few as their words would take.
    pub shared_requests: u64,
    pub shared_passes: u64,
    pub ideal_passes: u64,
    /// Branches that warps came to, and those at which their lanes parted.
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

/// What a line costs; `None` for what belongs to no line.
pub type LineCounts = (Option<SourceLine>, Counts);

/// All dispatches of one kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelProfile {
    pub name: String,
    pub dispatches: u64,
    pub invocations: u64,
    /// The counting included.
    pub time: Duration,
    /// Each line once, in the order in which lines were first seen.
    pub lines: Vec<LineCounts>,
}

/// Where devices leave their profiles. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Recorder(Rc<RefCell<Vec<KernelProfile>>>);

impl Recorder {
    /// What was recorded, kernels in the order of their first dispatch.
    pub fn kernels(&self) -> Vec<KernelProfile> {
        self.0.borrow().clone()
    }

    /// Runs something whose dispatches are not recorded.
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

/// Kernels of one name may be several; those of one place are one.
fn shares_a_line(kernel: &KernelProfile, lines: &[LineCounts]) -> bool {
    kernel.lines.is_empty()
        || lines.iter().any(|(line, _)| kernel.lines.iter().any(|(known, _)| known == line))
}
