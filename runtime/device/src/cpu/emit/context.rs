//! The context that compiled code and this crate share; every call gets it. ORDER: compiled code uses the
//! offsets of these fields.

use std::sync::atomic::AtomicBool;

use crate::Sampler;
use crate::cpu::images::ImageView;
use crate::cpu::instrumentation::Observation;
use crate::cpu::instrumentation::shared::Stamps;
use crate::cpu::lane::simd::MAX_WIDTH;
use crate::cpu::subgroups::LaneScheduler;

/// Bytes at the context's start that read as zero, and as many after them for stores. No access is longer:
/// the longest is that of all lanes of a SIMD group.
pub const SCRATCH_SIZE: usize = 8 * MAX_WIDTH as usize;

/// One thread's view of a dispatch.
#[repr(C, align(64))]
pub struct Context {
    /// Source of loads out of range.
    pub zeros: [u8; SCRATCH_SIZE],
    /// Target of stores out of range.
    pub sink: [u8; SCRATCH_SIZE],
    pub n_groups: [u32; 3],
    pub interrupt: *const AtomicBool,
    pub buffers: *const Slot,
    pub images: *const ImageView,
    pub samplers: *const Sampler,
    /// Every buffer of the device in the order of addresses, if the code uses physical addresses.
    pub ranges: *const Slot,
    pub n_ranges: usize,
    pub push: *const u8,
    /// The lanes' memory: one frame, or adjacent frames of a whole workgroup if lanes wait for each other.
    pub frames: *mut u8,
    pub shared: *mut u8,
    /// Performs subgroup operations, if the code has any.
    pub scheduler: *const LaneScheduler,
    /// Two different regions before which lanes wait; 0 is the end.
    pub diverged: [u32; 2],
    /// The index of a lane that waits before the second of them.
    pub diverged_lane: u32,
    /// Step and start of the order of lanes along each axis, if lanes are shuffled.
    pub order: [[u32; 2]; 3],
    /// The observer's stamps of shared memory.
    pub stamps: Stamps,
    /// For each buffer, then for each image, whether the observer wants its accesses.
    pub watched: *const bool,
    /// The observer, if the kernel is instrumented.
    pub observation: *mut Observation,
}

/// A bound range of a buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slot {
    pub base: *mut u8,
    pub size: u64,
}

/// Runs one region of workgroups `first_x .. end_x` of a row. Returns [`DONE`] if every lane has ended. If
/// all lanes wait at a barrier, it returns the next region; the row then has one workgroup. Otherwise it
/// returns a [`Stop`].
pub type Entry = unsafe extern "C" fn(context: *mut Context, first_x: u32, end_x: u32, y: u32, z: u32) -> i32;

pub const DONE: i32 = 0;

/// Why code stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Lanes of a workgroup wait at different barriers: [`Context::diverged`].
    Diverged,
    /// Interrupted by the flag, at this line of the table.
    Interrupted(usize),
}

impl Stop {
    /// The code's return value, which is negative.
    pub fn status(self) -> i32 {
        match self {
            Stop::Diverged => -1,
            Stop::Interrupted(line) => -2 - line as i32,
        }
    }

    pub fn of_status(status: i32) -> Option<Stop> {
        match status {
            DONE.. => None,
            -1 => Some(Stop::Diverged),
            _ => Some(Stop::Interrupted((-2 - i64::from(status)) as usize)),
        }
    }
}

/// The state of a lane, if lanes may wait at different places. ORDER: compiled code compares and stores the
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// Waits before this region. Region 0 means that the lane has ended.
    Waiting(usize),
    /// May run this region.
    Ready(usize),
}

impl LaneState {
    const READY: u32 = 1 << 31;

    pub fn bits(self) -> u32 {
        match self {
            LaneState::Waiting(region) => region as u32,
            LaneState::Ready(region) => region as u32 | LaneState::READY,
        }
    }

    pub fn of_bits(bits: u32) -> LaneState {
        let region = (bits & !LaneState::READY) as usize;
        if bits & LaneState::READY == 0 { LaneState::Waiting(region) } else { LaneState::Ready(region) }
    }
}
