//! A device that records its calls, to test what is copied and submitted.
//!
//! It stores bytes and copies them. Its only kernel adds 1 to every `f32` of every buffer that the dispatch
//! writes, whatever the module contains.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kps_device::{
    Backend, BufferId, Capabilities, Command, Commands, Device, DeviceError, DeviceInfo, DeviceKind,
    DeviceMemory, Features, HostMemory, ImageInfo, Interface, Limits, MemoryUsage, PipelineId,
    PipelineOptions, QueueId, Result, Ticket, Waited,
};

pub struct Recorder {
    info: DeviceInfo,
    shares_memory: bool,
    /// While set, submissions end only when something needs their result.
    pub stalls: Cell<bool>,
    /// Makes the submission fail that is waited for next.
    pub fails: Cell<bool>,
    trace: RefCell<Vec<String>>,
    buffers: RefCell<BTreeMap<u64, Box<[u8]>>>,
    n_buffers: Cell<u64>,
    pipelines: RefCell<Vec<Arc<Interface>>>,
    pub unloaded: RefCell<Vec<PipelineId>>,
    pub n_loads: Cell<usize>,
    submitted: RefCell<Vec<(Ticket, Commands)>>,
    ended: RefCell<[u64; 2]>,
    identities: RefCell<Vec<usize>>,
}

impl Recorder {
    /// A device with memory that the host cannot access.
    pub fn separate() -> Rc<Recorder> {
        Recorder::new(false)
    }

    /// A device that shares its memory with the host.
    pub fn sharing() -> Rc<Recorder> {
        Recorder::new(true)
    }

    fn new(shares_memory: bool) -> Rc<Recorder> {
        Rc::new(Recorder {
            info: info(),
            shares_memory,
            stalls: Cell::new(false),
            fails: Cell::new(false),
            trace: RefCell::default(),
            buffers: RefCell::default(),
            n_buffers: Cell::new(0),
            pipelines: RefCell::default(),
            unloaded: RefCell::default(),
            n_loads: Cell::default(),
            submitted: RefCell::default(),
            ended: RefCell::default(),
            identities: RefCell::default(),
        })
    }

    /// The calls since the last one.
    pub fn trace(&self) -> Vec<String> {
        self.trace.take()
    }

    /// How many different command lists were submitted.
    pub fn n_translated(&self) -> usize {
        self.identities.borrow().len()
    }

    pub fn n_buffers(&self) -> usize {
        self.buffers.borrow().len()
    }

    /// Ends all submissions.
    pub fn release(&self) {
        let submitted = std::mem::take(&mut *self.submitted.borrow_mut());
        for (ticket, commands) in submitted {
            commands.iter().for_each(|command| self.run(command));
            self.ended.borrow_mut()[ticket.queue as usize] = ticket.value;
        }
    }

    fn note(&self, event: String) {
        self.trace.borrow_mut().push(event);
    }

    fn run(&self, command: &Command) {
        let mut buffers = self.buffers.borrow_mut();
        match command {
            Command::Copy { from, from_offset, to, to_offset, size } => {
                let (start, size) = (*from_offset as usize, *size as usize);
                let bytes = buffers[&from.0][start..start + size].to_vec();
                let to = buffers.get_mut(&to.0).expect("a buffer that is there");
                to[*to_offset as usize..][..size].copy_from_slice(&bytes);
            }
            Command::Dispatch(dispatch) => {
                for binding in dispatch.bindings.iter().filter(|binding| binding.access.writes()) {
                    let bytes = buffers.get_mut(&binding.buffer.0).expect("a buffer that is there");
                    let bytes = &mut bytes[binding.offset as usize..][..binding.size as usize];
                    for element in bytes.chunks_exact_mut(4) {
                        let value = f32::from_le_bytes(*element.first_chunk().expect("four bytes"));
                        element.copy_from_slice(&(value + 1.0).to_le_bytes());
                    }
                }
            }
            Command::Timestamp => {}
        }
    }
}

impl Device for Recorder {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> DeviceMemory {
        let used = self.buffers.borrow().values().map(|bytes| bytes.len() as u64).sum();
        DeviceMemory { used, reserved: used, budget: self.info.memory }
    }

    fn alloc(&self, size: u64, _usage: MemoryUsage) -> Result<BufferId> {
        self.note(format!("alloc {size}"));
        let id = self.n_buffers.get();
        self.n_buffers.set(id + 1);
        self.buffers.borrow_mut().insert(id, vec![0; size as usize].into());
        Ok(BufferId(id))
    }

    fn alloc_image(&self, image: &ImageInfo) -> Result<BufferId> {
        self.alloc(image.n_bytes(), MemoryUsage::Device)
    }

    fn free(&self, buffer: BufferId) {
        self.note(format!("free {}", buffer.0));
        if self.submitted.borrow().is_empty() {
            self.buffers.borrow_mut().remove(&buffer.0);
        }
    }

    fn write(&self, buffer: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        self.note(format!("write {} at {offset}: {} bytes", buffer.0, bytes.len()));
        self.release();
        let mut buffers = self.buffers.borrow_mut();
        let target = buffers.get_mut(&buffer.0).ok_or(DeviceError::UnknownId { kind: "buffer" })?;
        target[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&self, buffer: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.note(format!("read {} at {offset}: {} bytes", buffer.0, bytes.len()));
        self.release();
        let buffers = self.buffers.borrow();
        let source = buffers.get(&buffer.0).ok_or(DeviceError::UnknownId { kind: "buffer" })?;
        bytes.copy_from_slice(&source[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn host_memory(&self, buffer: BufferId) -> Option<HostMemory> {
        if !self.shares_memory {
            return None;
        }
        let mut buffers = self.buffers.borrow_mut();
        let bytes = buffers.get_mut(&buffer.0)?;
        Some(HostMemory { ptr: bytes.as_mut_ptr(), len: bytes.len() })
    }

    fn load(&self, words: &[u32], options: &PipelineOptions) -> Result<PipelineId> {
        let mut pipelines = self.pipelines.borrow_mut();
        self.n_loads.set(self.n_loads.get() + 1);
        pipelines.push(Arc::new(Interface::reflect(words, options)?));
        Ok(PipelineId(pipelines.len() as u64 - 1))
    }

    fn unload(&self, pipeline: PipelineId) {
        self.unloaded.borrow_mut().push(pipeline);
    }

    fn interface(&self, pipeline: PipelineId) -> Result<Arc<Interface>> {
        Ok(self.pipelines.borrow()[pipeline.0 as usize].clone())
    }

    fn submit(&self, queue: QueueId, commands: &Commands, after: &[Ticket]) -> Result<Ticket> {
        let names = commands.iter().map(|command| match command {
            Command::Copy { from, to, .. } => format!("copy {} to {}", from.0, to.0),
            Command::Dispatch(dispatch) => format!("dispatch {:?}", dispatch.groups),
            Command::Timestamp => "timestamp".to_owned(),
        });
        let names: Vec<String> = names.collect();
        let after: Vec<String> =
            after.iter().map(|ticket| format!(" after {}.{}", ticket.queue, ticket.value)).collect();
        self.note(format!("submit {}{}", names.join(", "), after.concat()));
        let mut identities = self.identities.borrow_mut();
        if !identities.contains(&commands.identity()) {
            identities.push(commands.identity());
        }
        let mut submitted = self.submitted.borrow_mut();
        let last = submitted
            .iter()
            .filter(|(ticket, _)| ticket.queue == queue.0)
            .map(|(ticket, _)| ticket.value)
            .max();
        let value = last.unwrap_or(self.ended.borrow()[queue.0 as usize]) + 1;
        let ticket = Ticket { queue: queue.0, value };
        submitted.push((ticket, commands.clone()));
        Ok(ticket)
    }

    fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<Waited> {
        if timeout.is_some() && self.stalls.get() && self.ended.borrow()[ticket.queue as usize] < ticket.value
        {
            return Ok(Waited::TimedOut);
        }
        self.release();
        match self.fails.take() {
            true => Err(lost()),
            false => Ok(Waited::Done),
        }
    }

    fn timestamps(&self, _ticket: Ticket) -> Result<Vec<u64>> {
        Ok(vec![0, 5])
    }

    fn interrupt_flag(&self) -> Arc<AtomicBool> {
        Arc::default()
    }
}

/// The error of a failed submission.
pub fn lost() -> DeviceError {
    DeviceError::Lost { device: "recorder".to_owned() }
}

fn info() -> DeviceInfo {
    DeviceInfo {
        name: "recorder".to_owned(),
        backend: Backend::Cpu,
        capabilities: Capabilities {
            interrupts_submissions: true,
            uses_program_allocator: true,
            ..Capabilities::default()
        },
        kind: DeviceKind::Other,
        driver: String::new(),
        vulkan_driver: None,
        limits: Limits {
            max_groups: [65535; 3],
            max_local_size: [1024, 1024, 64],
            max_invocations: 1024,
            max_shared: 32768,
            max_push_constants: 128,
            max_storage_range: 1 << 27,
            max_storage_buffers: 32,
            max_allocation: 1 << 30,
            storage_offset_alignment: 16,
            subgroup_size: 8,
            timestamp_period: Some(1.0),
        },
        features: Features::new(),
        matrices: Vec::new(),
        queue_families: Vec::new(),
        queues: vec![0, 0],
        memory: 1 << 30,
        uuid: None,
        pci: None,
        lacks: Vec::new(),
    }
}
