//! Devices: SPIR-V words, bytes and commands in, results out. They know no language.
//!
//! [`select::open`] opens one and gives a [`Device`]. There are two kinds: [`vulkan`], any Vulkan 1.2 device, and
//! [`cpu`], which compiles the words to machine code and is always there. Both run the same [`Command`]s.
//! A command names the buffers that it reads and writes ([`Access`]); the device orders commands by them, so callers
//! need no barriers.
//!
//! | Type | Use |
//! |---|---|
//! | [`Device`] | memory, pipelines, submissions |
//! | [`DeviceInfo`] | name, limits and features of a device |
//! | [`Commands`], [`Ticket`] | what is submitted, and what one waits for |
//! | [`Interface`] | what a module binds, read from its words |
//! | [`Finding`] | a mistake that a checked kernel made at run time |
//!
//! ```
//! use kps_device::{Command, Commands, MemoryUsage, QueueId, Selector, select};
//!
//! # fn main() -> kps_device::Result<()> {
//! let device = select::open(&Selector::Cpu, &select::OpenOptions::default())?.device;
//! let a = device.alloc(4, MemoryUsage::Device)?;
//! let b = device.alloc(4, MemoryUsage::Device)?;
//! device.write(a, 0, &[1, 2, 3, 4])?;
//! let copy = Command::Copy { from: a, from_offset: 0, to: b, to_offset: 0, size: 4 };
//! let ticket = device.submit(QueueId(0), &Commands::new(vec![copy]), &[])?;
//! device.wait(ticket, None)?;
//! let mut bytes = [0; 4];
//! device.read(b, 0, &mut bytes)?;
//! assert_eq!(bytes, [1, 2, 3, 4]);
//! # Ok(())
//! # }
//! ```
//!
//! Vulkan is loaded at the first call that needs it, of [`select::list`] or [`select::open`].

mod absent;
mod command;
pub mod cpu;
pub mod error;
pub mod findings;
pub mod host;
pub mod image;
pub mod info;
pub mod interface;
mod last_use;
mod log;
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
pub use error::{DeviceError, Fault, Limit, SourceLine};
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
/// An id is valid for the device that returned it until it is freed. An invalid id gives
/// [`DeviceError::UnknownId`], never undefined behaviour.
pub trait Device {
    fn info(&self) -> &DeviceInfo;

    /// The memory that is in use now.
    fn memory(&self) -> DeviceMemory;

    /// Allocates memory of `size` bytes (more than zero), filled with zeros.
    fn alloc(&self, size: u64, usage: MemoryUsage) -> Result<BufferId>;

    /// Allocates an image with zero texels. It is memory as well: its id can be used as that of a buffer. Its
    /// bytes are its texels, packed along x, then y, then z. A copy takes an image as a whole.
    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId>;

    /// Frees the memory once the last submission that names it has ended. Freeing an unknown id does nothing.
    fn free(&self, buffer: BufferId);

    /// Names the memory for debuggers. Devices without any ignore this.
    fn name(&self, _buffer: BufferId, _name: &str) {}

    /// Copies `bytes` to byte `offset` of the buffer, after all earlier submissions that name it. The call
    /// returns after `bytes` are read.
    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Copies from byte `offset` of the buffer into `bytes`, after all earlier submissions that write it.
    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()>;

    /// The buffer's own memory if host and device share it, so that nothing is copied. The caller must not
    /// access it while a submission that names the buffer is in flight, nor after `free`.
    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory>;

    /// Makes memory of the host a buffer that copies can name, so that they need no memory of the driver's.
    /// `None` if the device cannot do that.
    ///
    /// # Safety
    /// The memory stays where it is until what owns it is passed to [`Device::release`]. The host does not write
    /// it while a submission reads it, and does not access it while one writes it.
    unsafe fn import(&self, _memory: HostMemory) -> Option<Imported> {
        None
    }

    /// Frees an imported buffer. The device drops `owner`, and with it the memory, once the last submission that
    /// names the buffer has ended.
    fn release(&self, imported: Imported, _owner: Box<dyn std::any::Any>) {
        self.free(imported.buffer);
    }

    /// Whether the buffer is in memory of the host that a GPU reaches over a bus.
    fn is_on_host(&self, _buffer: BufferId) -> bool {
        false
    }

    /// The first use of a new buffer overwrites all of it, so that it need not be cleared before.
    fn skip_clearing(&self, _buffer: BufferId) {}

    /// Marks a buffer as uninitialised. A checked kernel that reads it before it is written makes a mistake.
    /// Devices without checks ignore this.
    fn blank(&self, _buffer: BufferId) {}

    /// Marks bytes of a buffer as written through its host memory.
    fn wrote(&self, _buffer: BufferId, _bytes: std::ops::Range<u64>) {}

    /// Checks, reflects and compiles a module. The same binary and options give the same pipeline again, for
    /// the cost of a look-up.
    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId>;

    /// Releases a pipeline. It is freed after as many calls as there were `load`s, and when no submission
    /// uses it any more. Unloading an unknown id does nothing.
    fn unload(&self, pipeline: PipelineId);

    /// The interface of the module, reflected from its binary.
    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>>;

    /// Adds the commands to a queue, after the submissions in `after`. May return before they have run, or even
    /// before they have started: a device may collect commands until somebody waits for them.
    /// Submitting the same `Commands` again does not translate them again.
    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket>;

    /// Starts the commands that were collected longer ago than this. Returns whether younger ones still wait. An
    /// error is that of the next call.
    fn start_older(&self, _age: Duration) -> bool {
        false
    }

    /// Waits until a submission has ended. `None` waits without a limit, and zero only polls. It returns the
    /// error if the submission failed.
    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited>;

    /// The times of each [`Command::Timestamp`] of an ended submission in nanoseconds, in order. The clock
    /// has an arbitrary origin.
    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>>;

    /// Takes the findings of instrumented pipelines so far; empty for a device without instrumentation.
    fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// Interrupts running submissions as soon as possible (`DeviceError::Interrupted`). A device that cannot
    /// stop one stops waiting for it. Any thread may set the flag, and the one that set it resets it.
    fn interrupt_flag(&self) -> Arc<std::sync::atomic::AtomicBool>;
}

/// Commands that run in order, as one submission. Cloning is cheap. A device may cache their translation by
/// identity.
#[derive(Clone, Debug)]
pub struct Commands {
    list: Rc<[Command]>,
    repeats: bool,
}

impl Commands {
    /// Commands that may be submitted any number of times.
    pub fn new(commands: Vec<Command>) -> Commands {
        Commands { list: commands.into(), repeats: true }
    }

    /// Commands that are probably submitted once, so that caching them does not pay.
    pub fn once(commands: Vec<Command>) -> Commands {
        Commands { list: commands.into(), repeats: false }
    }

    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// The commands, to be changed for the next submission. `None` if anybody still refers to the list, as a
    /// device does that caches its translation.
    pub fn get_mut(&mut self) -> Option<&mut [Command]> {
        Rc::get_mut(&mut self.list)
    }

    /// Equal for clones of one list, and different from every other living list.
    pub fn identity(&self) -> usize {
        self.list.as_ptr() as usize
    }

    /// A weak reference, to test whether the list still exists.
    pub fn downgrade(&self) -> std::rc::Weak<[Command]> {
        Rc::downgrade(&self.list)
    }
}

impl std::ops::Deref for Commands {
    type Target = [Command];

    fn deref(&self) -> &[Command] {
        &self.list
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
    /// Takes the time when everything before it has ended.
    Timestamp,
}

/// One run of a pipeline over a grid of workgroups.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    pub pipeline: PipelineId,
    pub bindings: Vec<Binding>,
    pub samplers: Vec<SamplerBinding>,
    /// The whole push-constant block, in the module's layout.
    pub push_constants: Vec<u8>,
    /// Buffers whose addresses the device puts into the push constants.
    pub addressed: Vec<Addressed>,
    /// Workgroups along x, y and z. If any is zero, the dispatch does nothing.
    pub groups: [u32; 3],
}

/// Bytes `offset .. offset + size` of a buffer at one binding of a descriptor set. Images are bound whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binding {
    pub set: u32,
    pub binding: u32,
    pub buffer: BufferId,
    pub offset: u64,
    pub size: u64,
    pub access: Access,
}

/// Bytes `offset .. offset + size` of a buffer that the kernel accesses by address. The address is 8 bytes of
/// the push constants from `at` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Addressed {
    pub at: u32,
    pub buffer: BufferId,
    /// A multiple of [`ADDRESS_ALIGNMENT`].
    pub offset: u64,
    pub size: u64,
    pub access: Access,
}

/// Alignment of an [`Addressed`] offset, so that every element is aligned.
pub const ADDRESS_ALIGNMENT: u64 = 16;

/// The sampler at one binding of a descriptor set. Where image and sampler are one resource, both lists of a
/// dispatch name its binding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerBinding {
    pub set: u32,
    pub binding: u32,
    pub sampler: Sampler,
}

/// How a command accesses a buffer.
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

    /// This access and another one.
    pub fn and(self, other: Access) -> Access {
        if self == other { self } else { Access::ReadWrite }
    }
}

/// The use of a buffer, which determines its kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryUsage {
    /// Fast for kernels; shared with the host only if that costs nothing.
    Device,
    /// Memory of the host that kernels can access.
    Host,
}

/// The memory of an open device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// What buffers and images take.
    pub used: u64,
    /// What the process holds: as much, or more for later allocations.
    pub reserved: u64,
    /// What the process can hold without trouble, as far as the driver tells.
    pub budget: u64,
}

impl DeviceMemory {
    pub fn free(&self) -> u64 {
        self.budget.saturating_sub(self.used)
    }
}

/// Memory that host and device share.
#[derive(Clone, Copy, Debug)]
pub struct HostMemory {
    pub ptr: *mut u8,
    pub len: usize,
}

/// Memory of the host as a buffer of a device.
#[derive(Clone, Copy, Debug)]
pub struct Imported {
    /// Whole pages around the memory.
    pub buffer: BufferId,
    /// Of the memory's first byte.
    pub offset: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PipelineOptions {
    /// The entry point to run.
    pub entry_point: String,
    /// Values of specialisation constants: the constant's id and its bits (low word first for 64 bits).
    pub spec_constants: Vec<(u32, u64)>,
    /// Invocations of a subgroup, if the device supports a choice; `None` is the device's default.
    pub subgroup_size: Option<u32>,
    /// How it is instrumented.
    pub instrument: Instrument,
    pub origin: Origin,
}

/// The origin of a module, which decides whether its memory accesses are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// The kernel compiler of this process, which checks every index that may be out of range.
    Compiler,
    /// Anything else: the device bounds all accesses.
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

/// Index among the queues with which the device was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct QueueId(pub u32);

/// One submission. Tickets of one queue end in order. The default is no submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Ticket {
    pub queue: u32,
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    Done,
    TimedOut,
}
