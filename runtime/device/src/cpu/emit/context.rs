//! What compiled code and this crate share: the context that every call gets. ORDER: compiled code takes
//! the offsets of these fields from here.

use std::sync::atomic::AtomicBool;

use crate::Sampler;
use crate::cpu::images::ImageView;
use crate::cpu::instrumentation::Observation;
use crate::cpu::instrumentation::shared::Stamps;
use crate::cpu::lane::simd::MAX_WIDTH;
use crate::cpu::subgroups::LaneScheduler;

/// Bytes at the context's start that read as zero, and as many behind them that nobody reads. No single
/// access is longer: the longest are those of all lanes of a gang at once.
pub const SCRATCH_SIZE: usize = 8 * MAX_WIDTH as usize;

/// One thread's view of a dispatch.
#[repr(C, align(64))]
pub struct Context {
    /// Where loads out of range go.
    pub zeros: [u8; SCRATCH_SIZE],
    /// Where stores out of range go.
    pub sink: [u8; SCRATCH_SIZE],
    pub n_groups: [u32; 3],
    pub interrupt: *const AtomicBool,
    pub buffers: *const Slot,
    pub images: *const ImageView,
    pub samplers: *const Sampler,
    /// Every buffer of the device in the order of addresses, where the code goes to addresses.
    pub ranges: *const Slot,
    pub n_ranges: usize,
    pub push: *const u8,
    /// Memory of the lanes: the frame of one, or one behind the other those of a whole workgroup where lanes
    /// wait for each other.
    pub frames: *mut u8,
    pub shared: *mut u8,
    /// What lanes of subgroups do together, where code asks for it.
    pub scheduler: *const LaneScheduler,
    /// The regions before which lanes wait that should wait before the same; 0 is the end.
    pub diverged: [u32; 2],
    /// By its index in the workgroup a lane that waits before the second of them.
    pub diverged_lane: u32,
    /// Step and start of the order of lanes along each axis, where the kernel is shuffled.
    pub order: [[u32; 2]; 3],
    /// What the observer remembers of shared memory.
    pub stamps: Stamps,
    /// Of each buffer, then of each image, whether the observer wants to be told of accesses to it.
    pub watched: *const bool,
    /// Who watches, where the kernel has probes.
    pub observation: *mut Observation,
}

/// A bound range of a buffer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Slot {
    pub base: *mut u8,
    pub size: u64,
}

/// Runs one region of workgroups `first_x .. end_x` of a row. Gives [`DONE`] where every lane has ended, the
/// number of the next region where all lanes wait at a barrier (then there is one workgroup in the row),
/// or a [`Stop`].
pub type Entry = unsafe extern "C" fn(context: *mut Context, first_x: u32, end_x: u32, y: u32, z: u32) -> i32;

pub const DONE: i32 = 0;

/// Why code stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Lanes of a workgroup did not come to the same barrier: [`Context::parted`].
    Diverged,
    /// By the interrupt flag, at this line of the table.
    Interrupted(usize),
}

impl Stop {
    /// As code returns it: below zero.
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

/// What a lane does where lanes may wait in different places. ORDER: compiled code compares and stores the
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneState {
    /// Waits for others before the region of this number; region 0 is that of a lane that has ended.
    Waiting(usize),
    /// May run through the region of this number.
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
