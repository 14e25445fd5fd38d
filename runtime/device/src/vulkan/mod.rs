//! Any Vulkan 1.2 device.
//!
//! `physical` describes the devices of the machine, and `gpu` opens one. `state` is an open device: buffers
//! in `memory`, which `spare` keeps after they are freed if they are large, `pipelines` with their cache on disk,
//! and queues. Each queue has a timeline semaphore whose values are the tickets.
//!
//! `plan` checks a list of commands, and `encode` records it: commands that run once go to the queue's `batch`,
//! and `recordings` caches the recording of a list that may run again. `hazards` determines which commands wait
//! for which. `transfer` copies bytes between the host and buffers, if need be through `staged` pieces, `uncached` reads a GPU's own memory, and
//! `import` makes memory of the host a buffer. `copies` copies between buffers by a kernel where that is faster,
//! and `images` has the rest for images. `names` has the names of objects for debuggers.

mod batch;
mod buffers;
mod copies;
mod disk_cache;
mod encode;
mod features;
mod fences;
mod foreign;
mod gpu;
mod hazards;
mod images;
mod import;
mod limits;
mod loader;
mod matrices;
mod memory;
mod names;
mod physical;
mod pipelines;
mod plan;
mod queue;
mod recordings;
mod requirements;
mod samplers;
mod spare;
mod staged;
mod staging;
mod state;
#[cfg(test)]
mod testing;
mod transfer;
mod uncached;
mod validation;
mod validity;

use std::any::Any;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{
    BufferId, Commands, Device, DeviceError, DeviceInfo, DeviceMemory, HostMemory, ImageInfo, Imported,
    Interface, MemoryUsage, NoGpu, OpenOptions, Opened, PipelineId, PipelineOptions, QueueId, Result, Ticket,
    Waited,
};
use gpu::Gpu;
use memory::Place;
use state::State;

pub(crate) use physical::{Physical, devices};
pub(crate) use requirements::{check_beside, lacking};
pub use validation::{layer_messages, request_validation, validation_messages};

/// A driver for a GPU works only through one of these files, on Linux.
pub(crate) const GPU_FILES: [&str; 7] = [
    "/dev/dri",
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/dev/dxg",
    "/dev/kgsl-3d0",
    "/dev/mali0",
    "/dev/nvhost-ctrl",
];

/// A file that shows that the system has a GPU.
pub(crate) fn gpu_file() -> Option<&'static str> {
    GPU_FILES.into_iter().find(|file| std::path::Path::new(file).exists())
}

/// Whether looking for a GPU has any point: loading every driver takes a while.
pub(crate) fn may_have_gpu() -> bool {
    const CHOICES: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];
    let chosen = || CHOICES.iter().any(|name| std::env::var_os(name).is_some());
    !cfg!(target_os = "linux") || gpu_file().is_some() || chosen()
}

/// The error while listing devices, if there was one. Loads Vulkan if it exists.
pub(crate) fn failure() -> Option<NoGpu> {
    match loader::get_or_why() {
        Err(failure) => Some(failure.clone()),
        Ok(loader) => physical::list_failure(loader),
    }
}

/// Missing validation is an error if it was requested, and does not just shorten the list.
pub(crate) fn check_validation() -> Result<()> {
    match validation::requested() {
        true => loader::get().map(drop),
        false => Ok(()),
    }
}

/// Opens a device of [`devices`].
pub(crate) fn open(physical: &Physical, options: &OpenOptions) -> Result<Opened> {
    if !physical.info.lacks.is_empty() {
        let (device, lacks) = (physical.info.name.clone(), physical.info.lacks.clone());
        return Err(DeviceError::BelowFloor { device, lacks });
    }
    let (gpu, places, warnings) = Gpu::create(physical, options)?;
    let gpu = Rc::new(gpu);
    let mut info = physical.info.clone();
    info.queues = places.iter().map(|place| place.family).collect();
    let state = State::new(&gpu, &places, options)?;
    let interrupt = state.interrupt.clone();
    let device = VulkanDevice { info, interrupt, state: ManuallyDrop::new(RefCell::new(state)) };
    Ok(Opened { device: Rc::new(device), warnings })
}

/// Whether a device was leaked because its work had not ended.
static LEFT_RUNNING: AtomicBool = AtomicBool::new(false);

/// Whether a driver still works on an abandoned submission. Its memory must stay until the process ends, so
/// the process should end without running exit handlers.
pub fn is_left_running() -> bool {
    LEFT_RUNNING.load(Ordering::Relaxed)
}

struct VulkanDevice {
    info: DeviceInfo,
    interrupt: Arc<AtomicBool>,
    state: ManuallyDrop<RefCell<State>>,
}

impl Drop for VulkanDevice {
    fn drop(&mut self) {
        // A kernel that never ends leaks the device: destroying it would crash, and waiting would hang.
        if self.state.borrow_mut().wait_all() {
            // SAFETY: nothing uses the device after this.
            unsafe { ManuallyDrop::drop(&mut self.state) };
        } else {
            LEFT_RUNNING.store(true, Ordering::Relaxed);
        }
    }
}

impl Device for VulkanDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> DeviceMemory {
        self.state.borrow().memory.report()
    }

    fn alloc(&self, size: u64, usage: MemoryUsage) -> Result<BufferId> {
        self.state.borrow_mut().alloc(size, usage)
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        self.state.borrow_mut().alloc_image(image)
    }

    fn skip_clearing(&self, buffer: BufferId) {
        // An unknown buffer is reported by its first use.
        let _ = self.state.borrow_mut().buffers.filled(buffer);
    }

    fn free(&self, buffer: BufferId) {
        self.state.borrow_mut().free(buffer);
    }

    fn name(&self, buffer: BufferId, name: &str) {
        let state = self.state.borrow();
        let Ok(entry) = state.buffers.get(buffer) else { return };
        match entry.buffer.place {
            Place::Buffer(handle) => state.gpu.names.set(handle, || name.to_owned()),
            Place::Image(image) => {
                state.gpu.names.set(image.handle, || name.to_owned());
                state.gpu.names.set(image.view, || format!("view of {name}"));
            }
        }
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.state.borrow_mut().write(buffer, offset, bytes)
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.state.borrow_mut().read(buffer, offset, bytes)
    }

    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory> {
        self.state.borrow_mut().host_memory(buffer)
    }

    unsafe fn import(&self, memory: HostMemory) -> Option<Imported> {
        // SAFETY: the caller's promise is that of this call.
        unsafe { self.state.borrow_mut().import(memory) }
    }

    fn release(&self, imported: Imported, owner: Box<dyn Any>) {
        self.state.borrow_mut().release(imported, owner);
    }

    fn is_on_host(&self, buffer: BufferId) -> bool {
        let state = self.state.borrow();
        state.buffers.get(buffer).is_ok_and(|entry| !copies::is_local(&state.memory, &entry.buffer))
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        self.state.borrow_mut().pipelines.load(words, options)
    }

    fn unload(&self, pipeline: PipelineId) {
        self.state.borrow_mut().pipelines.unload(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        Ok(self.state.borrow().pipelines.get(pipeline)?.interface.clone())
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        self.state.borrow_mut().submit(queue, commands, after)
    }

    fn start_older(&self, age: Duration) -> bool {
        let queues = &mut self.state.borrow_mut().queues;
        // A lost device is reported by the next call that can fail.
        queues.iter_mut().fold(false, |waits, queue| waits | queue.flush_older(age).unwrap_or(false))
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        self.state.borrow_mut().wait(ticket, timeout)
    }

    fn timestamps(&self, ticket: Ticket) -> Result<Vec<u64>> {
        self.state.borrow_mut().timestamps(ticket)
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }
}
