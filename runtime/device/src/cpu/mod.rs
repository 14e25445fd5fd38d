//! The CPU device: it compiles SPIR-V to machine code for the CPU of this machine.
//!
//! ```text
//! SPIR-V       module   read and checked: ids, types, constants, blocks
//! Module       lower    calls inlined, composites split into scalars
//! lane IR      lane     code of one invocation; passes; regions between barriers
//! CLIF, code   emit     one function that runs a row of workgroups, compiled on demand by `tiers`
//! commands     state    checked, and resolved into a submission that any thread can run
//! submission   queues   run in order, by a thread of the queue or by one that waits
//! dispatch     pool     workgroups distributed to threads
//! ```
//!
//! `queues` decides who runs a submission. Findings and costs of instrumented kernels are taken by the thread
//! that has the device.
//!
//! Whatever a module does, a kernel stays within its buffers. Loads out of range read zero, stores out of
//! range are dropped, and nothing traps.

mod buffers;
mod dispatch;
mod emit;
mod errors;
mod images;
mod info;
mod instrumentation;
mod lane;
mod library;
mod lower;
mod math;
mod module;
mod pipeline;
mod pool;
mod queues;
mod repeated;
mod state;
mod subgroups;
mod submission;
mod tiers;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use self::buffers::Buffers;
use self::library::Key;
use self::pool::Pool;
use self::state::State;
use self::submission::Runner;
use crate::profile::Recorder;
use crate::{
    Access, BufferId, Commands, Device, DeviceError, DeviceInfo, DeviceMemory, Finding, HostMemory,
    ImageInfo, Instrument, Interface, MemoryUsage, OpenOptions, Origin, PipelineId, PipelineOptions, QueueId,
    Result, Ticket, Waited, log,
};

pub use self::info::info;
pub use self::library::{CacheStats, ROOM, cache_stats};

/// How code processes the invocations of a workgroup. The results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lanes {
    /// One lane after the other.
    Single,
    /// SIMD groups of neighbouring lanes, where the kernel permits it.
    SimdGroups,
    /// [`Lanes::SimdGroups`] for long-running kernels, else single lanes, which compile faster.
    Adaptive,
}

/// Opens the CPU device, which always exists.
pub fn open() -> Result<Rc<dyn Device>> {
    open_as(&OpenOptions::default())
}

/// As [`open`]. It has a queue for each queue family of the options. The recorder of the options gets the cost
/// of each kernel.
pub fn open_as(options: &OpenOptions) -> Result<Rc<dyn Device>> {
    new_device(Lanes::Adaptive, options)
}

/// As [`open`], with code of one kind.
pub fn open_with(lanes: Lanes) -> Result<Rc<dyn Device>> {
    new_device(lanes, &OpenOptions::default())
}

/// Refuses modules from which this device cannot make a pipeline.
pub fn check(words: &[u32], options: &PipelineOptions) -> Result<()> {
    pipeline::load(words, options, Lanes::Single).map(|_| ())
}

fn new_device(lanes: Lanes, options: &OpenOptions) -> Result<Rc<dyn Device>> {
    let n_queues = options.n_queues();
    let interrupt = Arc::new(AtomicBool::new(false));
    let runner = Runner { pool: Pool::new(), interrupt: interrupt.clone(), began: Instant::now() };
    let info = DeviceInfo { queues: vec![0; n_queues], ..info() };
    let buffers = Buffers::new(options.memory_limit, info.memory);
    Ok(Rc::new(CpuDevice {
        info,
        lanes,
        recorder: options.profile.clone(),
        interrupt,
        state: RefCell::new(State::new(buffers, n_queues, runner)),
    }))
}

struct CpuDevice {
    info: DeviceInfo,
    lanes: Lanes,
    /// Receives the cost of kernels.
    recorder: Option<Recorder>,
    interrupt: Arc<AtomicBool>,
    state: RefCell<State>,
}

impl Device for CpuDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> DeviceMemory {
        self.state.borrow().buffers.usage()
    }

    fn alloc(&self, size: u64, _usage: MemoryUsage) -> Result<BufferId> {
        let state = &mut *self.state.borrow_mut();
        state.take_back();
        state.buffers.alloc(size)
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        let state = &mut *self.state.borrow_mut();
        state.take_back();
        state.buffers.alloc_image(image)
    }

    fn free(&self, buffer: BufferId) {
        self.state.borrow_mut().free(buffer);
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        let state = &mut *self.state.borrow_mut();
        state.wait_for(buffer, Access::Write);
        let buffers = &mut state.buffers;
        let to = buffers.range(buffer, offset, bytes.len() as u64)?;
        buffers.wrote(buffer, offset..offset + bytes.len() as u64);
        // SAFETY: `range` checked that all bytes are inside the buffer. The source may be the buffer's own
        // host memory, so the ranges may overlap.
        unsafe { std::ptr::copy(bytes.as_ptr(), to.base, bytes.len()) };
        Ok(())
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let state = self.state.borrow();
        state.wait_for(buffer, Access::Read);
        let from = state.buffers.range(buffer, offset, bytes.len() as u64)?;
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy(from.base, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory> {
        self.state.borrow().buffers.host_memory(buffer)
    }

    fn blank(&self, buffer: BufferId) {
        self.state.borrow_mut().blank(buffer);
    }

    fn wrote(&self, buffer: BufferId, bytes: Range<u64>) {
        self.state.borrow_mut().buffers.wrote(buffer, bytes);
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        let mut options = options.clone();
        if self.recorder.is_some() && options.instrument == Instrument::None {
            options.instrument = Instrument::Profile;
        }
        // The CPU device bounds the accesses of every module.
        options.origin = Origin::default();
        self.state.borrow_mut().load(Key { words: words.into(), options, lanes: self.lanes })
    }

    fn unload(&self, pipeline: PipelineId) {
        self.state.borrow_mut().unload(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        self.state.borrow().interface(pipeline)
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        let state = &mut *self.state.borrow_mut();
        let queue = queue.0 as usize;
        if queue >= state.queues.len() {
            return Err(DeviceError::UnknownId { kind: "queue" });
        }
        log::submitted(QueueId(queue as u32), commands);
        state.take_back();
        let mut submission = state.resolve(queue, commands, after)?;
        // A profile counts kernels one by one, in the order of their launches.
        let is_due_here = self.recorder.is_some() || state.queues.is_due_here(&submission);
        let ticket = match is_due_here {
            true => {
                let ticket = state.queues.run_here(&mut submission);
                state.keep(submission);
                ticket
            }
            false => {
                state.share(&mut submission, commands);
                state.queues.hand_over(submission)
            }
        };
        state.collect_observed(self.recorder.as_ref());
        Ok(ticket)
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        let state = &mut *self.state.borrow_mut();
        let waited = state.queues.wait(ticket, timeout);
        state.collect_observed(self.recorder.as_ref());
        waited
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        let timestamps = self.state.borrow().queues.timestamps(ticket)?;
        timestamps.ok_or_else(|| {
            errors::bad_command("the timestamps of a submission are available after it has ended")
        })
    }

    fn findings(&self) -> Vec<Finding> {
        let state = &mut *self.state.borrow_mut();
        state.collect_observed(self.recorder.as_ref());
        std::mem::take(&mut state.findings)
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }
}
