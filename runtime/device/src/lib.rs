//! Devices take SPIR-V words, bytes and commands as plain data. They know no language.
//!
//! There are two: [`vulkan`], any Vulkan 1.2 device, and [`cpu`], built in and always there. Both run
//! the same [`Command`]s. Hazards between commands are worked out by the device from the buffers that
//! each command names with its [`Access`], so nobody above ever asks for a barrier.
//! Nothing of Vulkan is loaded before [`select::list`] or [`select::open`] is called with a selector that
//! needs it.

mod absent;
mod command;
pub mod cpu;
pub mod error;
pub mod findings;
pub mod image;
pub mod info;
pub mod interface;
pub mod matrix;
mod offsets;
pub mod profile;
mod reflect;
pub mod select;
pub mod tools;
pub mod vulkan;
mod words;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub use absent::NoGpu;
pub use error::{DeviceError, Fault, SourceLine};
pub use findings::{Check, Checks, Finding, FindingKind, Instrument, Invocation, Schedule};
pub use image::{AddressMode, Channel, Dimension, Filter, ImageInfo, Sampler, TexelFormat};
pub use info::{
    Backend, Capabilities, DeviceInfo, DeviceKind, Feature, Features, Limits, QueueFamily, VulkanDriver,
};
pub use interface::Interface;
pub use kps_scalar::Scalar;
pub use matrix::{MatrixProduct, MatrixScope};
pub use reflect::{SourceText, source_texts};
pub use select::{OpenOptions, Opened, Selector};

pub type Result<T> = std::result::Result<T, DeviceError>;

/// One opened device. Object-safe, used from one thread, and shared as [`Rc<dyn Device>`].
///
/// Every id is good for the device that gave it and until it is freed; an id that is not good is
/// [`DeviceError::UnknownId`], never undefined behaviour.
pub trait Device {
    fn info(&self) -> &DeviceInfo;

    /// Memory of `size` bytes (more than zero), filled with zeros, bound and freed as a whole.
    fn alloc(&self, size: u64, usage: MemoryUsage) -> Result<BufferId>;

    /// An image, its texels zero. It is memory as well: its id goes wherever a buffer's goes, and its bytes
    /// are its texels, packed along x, then y, then z. A copy takes an image as a whole.
    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId>;

    /// Gives the memory back once the last submission that names it has ended.
    /// Freeing an unknown id does nothing.
    fn free(&self, buffer: BufferId);

    /// Copies `bytes` into the buffer at byte `offset`, after everything submitted before that names it.
    /// The bytes are taken when the call returns.
    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Copies from the buffer at byte `offset` into `bytes`, waiting for everything submitted before
    /// that writes it.
    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()>;

    /// The buffer's own memory where host and device share it, so that nothing needs copying.
    /// The caller must not touch it while a submission that names the buffer is in flight, nor after `free`.
    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory>;

    /// What a buffer holds means nothing until somebody writes it: a checked kernel that reads it before makes a
    /// mistake. Devices that find none take no notice.
    fn blank(&self, _buffer: BufferId) {}

    /// Bytes of a buffer were written by way of its host memory.
    fn wrote(&self, _buffer: BufferId, _bytes: std::ops::Range<u64>) {}

    /// Checks, reflects and compiles a module. The same words and options give the same pipeline
    /// again, at the cost of a look-up.
    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId>;

    /// Gives a pipeline back. It goes once every `load` that gave it was given back, and nothing that was submitted
    /// uses it any more. Unloading an unknown id does nothing.
    fn unload(&self, pipeline: PipelineId);

    /// What the module binds, reflected from its words.
    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>>;

    /// Starts the commands, after those of `after` have ended. May return before they have run.
    /// The same `Commands` submitted again are not translated again.
    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket>;

    /// Waits until a submission has ended; `None` waits as long as it takes, zero only asks.
    /// What went wrong on the device is told here.
    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited>;

    /// The nanosecond of each [`Command::Timestamp`] of a submission that has ended, in order, on a
    /// clock that starts anywhere.
    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>>;

    /// What watched pipelines did wrong since this was asked last; empty for a device that watches nothing.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Ends what is running at the next chance (`DeviceError::Interrupted`). A device that cannot end it
    /// stops waiting for it.
    /// The flag may be raised from any thread; whoever raised it lowers it.
    fn interrupt_flag(&self) -> Arc<std::sync::atomic::AtomicBool>;
}

/// Commands that run in order, as one submission. Cheap to clone; a device may remember what it made of
/// them by their identity.
#[derive(Clone, Debug)]
pub struct Commands(Rc<[Command]>);

impl Commands {
    pub fn new(commands: Vec<Command>) -> Commands {
        Commands(commands.into())
    }

    /// The same for clones of one list, different from every other list that is alive.
    pub fn identity(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// A handle that tells whether the list is still alive.
    pub fn downgrade(&self) -> std::rc::Weak<[Command]> {
        Rc::downgrade(&self.0)
    }
}

impl std::ops::Deref for Commands {
    type Target = [Command];

    fn deref(&self) -> &[Command] {
        &self.0
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Copies `size` bytes between buffers, which may be the same one if the ranges do not overlap.
    Copy {
        from: BufferId,
        from_offset: u64,
        to: BufferId,
        to_offset: u64,
        size: u64,
    },
    Dispatch(Dispatch),
    /// Notes the time when everything before it has ended.
    Timestamp,
}

/// One run of a pipeline over a grid of workgroups.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    pub pipeline: PipelineId,
    pub bindings: Vec<Binding>,
    pub samplers: Vec<SamplerBinding>,
    /// The whole push-constant block, as the module lays it out.
    pub push_constants: Vec<u8>,
    /// Buffers whose addresses the device puts into the push constants.
    pub addressed: Vec<Addressed>,
    /// Workgroups along x, y and z. Zero in any of them is nothing to do.
    pub groups: [u32; 3],
}

/// Bytes `offset .. offset + size` of a buffer at one binding of one descriptor set. Images are bound whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binding {
    pub set: u32,
    pub binding: u32,
    pub buffer: BufferId,
    pub offset: u64,
    pub size: u64,
    pub access: Access,
}

/// Bytes `offset .. offset + size` of a buffer that the kernel reaches by an address, which takes the 8 bytes
/// of the push constants from `at` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Addressed {
    pub at: u32,
    pub buffer: BufferId,
    /// A multiple of [`ADDRESS_ALIGNMENT`].
    pub offset: u64,
    pub size: u64,
    pub access: Access,
}

/// What the offset of an [`Addressed`] is a multiple of, so that every element is aligned.
pub const ADDRESS_ALIGNMENT: u64 = 16;

/// The sampler at one binding of one descriptor set. Where image and sampler are one resource, both lists
/// of a dispatch name its binding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerBinding {
    pub set: u32,
    pub binding: u32,
    pub sampler: Sampler,
}

/// What a command does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
    ReadWrite,
}

impl Access {
    pub fn reads(self) -> bool {
        self != Access::Write
    }

    pub fn writes(self) -> bool {
        self != Access::Read
    }
}

/// What a buffer is for, which decides the memory it lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryUsage {
    /// Fast for kernels; shared with the host only where that costs nothing.
    Device,
    /// Memory of the host that kernels can reach.
    Host,
}

/// Memory that host and device share.
#[derive(Clone, Copy, Debug)]
pub struct HostMemory {
    pub ptr: *mut u8,
    pub len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PipelineOptions {
    /// The entry point to run.
    pub entry_point: String,
    /// Values of specialisation constants: the constant's id and its bits (low word first for 64 bits).
    pub spec_constants: Vec<(u32, u64)>,
    /// Invocations of a subgroup, where the device lets one choose; `None` leaves it to the device.
    pub subgroup_size: Option<u32>,
    /// What is watched while it runs.
    pub instrument: Instrument,
    pub origin: Origin,
}

/// Where the words of a module come from, and so whether they are to be trusted with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// The kernel compiler of this process, which tests every index that may be out of range.
    Compiler,
    /// Anywhere else: a device bounds what the words reach.
    #[default]
    External,
}

impl Default for PipelineOptions {
    fn default() -> PipelineOptions {
        PipelineOptions {
            entry_point: "main".to_owned(),
            spec_constants: Vec::new(),
            subgroup_size: None,
            instrument: Instrument::None,
            origin: Origin::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PipelineId(pub u64);

/// One of the queues that the device was opened with, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct QueueId(pub u32);

/// One submission. Tickets of one queue end in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    pub queue: u32,
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    Done,
    TimedOut,
}
