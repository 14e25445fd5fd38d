//! Managers: one open device and everything created for it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use kps_device::profile::Recorder;
use kps_device::{
    Device, DeviceInfo, Finding, OpenOptions, Opened, QueueId, SamplerBinding, Selector, Ticket, Waited,
    select,
};

use crate::algorithm;
use crate::constants::{Push, SpecValues};
use crate::context::Context;
use crate::element::Element;
use crate::error::{ComputeError, Result};
use crate::grid::Extent;
use crate::kernel::{Kernel, Running};
use crate::log::{Level, Log};
use crate::memory::{self, MemoryReport};
use crate::number::Number;
use crate::observe::{Profile, Tracer};
use crate::plan::Timestamps;
use crate::prepared::PreparedLaunch;
use crate::records::Report;
use crate::sequence::Sequence;
use crate::stream::{Event, Stream};
use crate::tensor::Tensor;

/// Opens a device and creates tensors, algorithms and sequences for it.
///
/// ```
/// use kps_compute::{DType, Manager, Op, Tensor};
/// # fn main() -> Result<(), kps_compute::ComputeError> {
/// let manager = Manager::builder().device(kps_device::Selector::Cpu).open()?;
/// let a = manager.tensor(&[2.0f32, 2.0, 2.0])?;
/// let b = manager.tensor(&[1.0f32, 2.0, 3.0])?;
/// let out = Tensor::zeros(DType::F32, &[3])?;
/// let product = Op::Multiply(vec![a.clone(), b.clone(), out.clone()]);
/// manager.sequence().upload(&[&a, &b]).chain(product).download(&[&out]).eval()?;
/// assert_eq!(out.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
/// # Ok(())
/// # }
/// ```
pub struct Manager {
    context: Rc<Context>,
    info: DeviceInfo,
    /// Number of requested queues. A device with fewer shares them.
    n_queues: u32,
    /// Number of streams so far.
    n_streams: Cell<u32>,
    named: RefCell<HashMap<String, Sequence>>,
    /// Anonymous sequences that were started and not awaited yet.
    started: RefCell<Vec<Sequence>>,
}

impl Manager {
    /// Opens the best device.
    pub fn new() -> Result<Manager> {
        Manager::builder().open()
    }

    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A manager for a device that is already open.
    pub fn over(device: Rc<dyn Device>, log: Log) -> Manager {
        Manager::traced_over(device, log, None)
    }

    fn traced_over(device: Rc<dyn Device>, log: Log, tracer: Option<Tracer>) -> Manager {
        let info = device.info().clone();
        let context = Context::new(device, log, tracer);
        let n_queues = context.n_queues() as u32;
        context.log.event(Level::Debug, || "Kompute Manager device created".to_owned());
        context.log.event(Level::Debug, || "Kompute Manager compute queue obtained".to_owned());
        Manager {
            context,
            info,
            n_queues,
            n_streams: Cell::new(0),
            named: RefCell::default(),
            started: RefCell::default(),
        }
    }

    /// Every device of this machine, indexed by `Selector::Index`.
    pub fn list_devices() -> Vec<DeviceInfo> {
        select::list()
    }

    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The open device, for operations that the manager lacks.
    pub fn device(&self) -> Result<Rc<dyn Device>> {
        self.context.device("use")
    }

    /// A profile of everything that the manager runs between its start and its stop.
    pub fn profile(&self) -> Result<Profile> {
        self.context.device("profile")?;
        Ok(Profile::new(&self.context))
    }

    /// What the manager uses of the device's memory.
    pub fn memory(&self) -> Result<MemoryReport> {
        memory::report(&self.context)
    }

    /// A tensor with one axis, which ends with the manager.
    pub fn tensor<T: Element>(&self, elements: &[T]) -> Result<Tensor> {
        self.adopt(Tensor::from_slice(elements)?)
    }

    /// Makes a tensor end with the manager.
    pub fn adopt(&self, tensor: Tensor) -> Result<Tensor> {
        self.context.device("make a tensor with")?;
        tensor.storage().belong_to(&self.context);
        Ok(tensor)
    }

    /// Whether the tensor ends with this manager.
    pub fn owns(&self, tensor: &Tensor) -> bool {
        tensor.storage().belongs_to(&self.context)
    }

    /// Compiles a kernel for the device.
    pub fn kernel(&self, words: &[u32], spec_constants: &[Number]) -> Result<Rc<Kernel>> {
        self.kernel_run_so(words, spec_constants, Running::default())
    }

    /// The same, with options.
    pub fn kernel_run_so(
        &self,
        words: &[u32],
        spec_constants: &[Number],
        running: Running,
    ) -> Result<Rc<Kernel>> {
        let spec_constants = SpecValues::list(spec_constants.iter().copied());
        Kernel::load(&self.context, words, &spec_constants, running).map(Rc::new)
    }

    /// A kernel bound to tensors; `build` checks them against each other.
    pub fn algorithm<'a>(&self, tensors: &[&Tensor], words: &'a [u32]) -> algorithm::Builder<'a> {
        let tensors: Vec<Tensor> = tensors.iter().copied().cloned().collect();
        algorithm::Builder::new(&self.context, &tensors, words)
    }

    /// The same, for owned tensors.
    pub fn algorithm_over<'a>(&self, tensors: &[Tensor], words: &'a [u32]) -> algorithm::Builder<'a> {
        algorithm::Builder::new(&self.context, tensors, words)
    }

    /// An anonymous sequence, which runs on the stream that is entered, else on the first queue.
    pub fn sequence(&self) -> Sequence {
        Sequence::new(&self.context, None, Timestamps::Off)
    }

    /// An anonymous sequence on the n-th queue of the manager; without one, as [`Manager::sequence`].
    pub fn sequence_on(&self, queue: impl Into<Option<u32>>) -> Result<Sequence> {
        self.make_sequence(queue.into(), Timestamps::Off)
    }

    /// An anonymous sequence with timestamps before its first operation and after each.
    pub fn timed_sequence(&self, queue: impl Into<Option<u32>>) -> Result<Sequence> {
        if self.info.limits.timestamp_period.is_none() {
            return Err(ComputeError::NoTimestamps);
        }
        self.make_sequence(queue.into(), Timestamps::On)
    }

    fn make_sequence(&self, queue: Option<u32>, timestamps: Timestamps) -> Result<Sequence> {
        self.context.device("make a sequence with")?;
        if let Some(index) = queue.filter(|queue| *queue >= self.n_queues) {
            return Err(ComputeError::NoQueue { index, available: self.n_queues });
        }
        // A device with fewer queues shares them.
        let queue = queue.map(|queue| QueueId(queue % self.context.n_queues() as u32));
        Ok(Sequence::new(&self.context, queue, timestamps))
    }

    /// A stream of its own, on a queue other than the first if there are several. Streams share queues if
    /// there are more of them.
    pub fn stream(&self) -> Result<Stream> {
        self.context.device("make a stream with")?;
        let n_others = self.context.n_queues() as u32 - 1;
        let n_before = self.n_streams.replace(self.n_streams.get().wrapping_add(1));
        let queue = if n_others == 0 { 0 } else { 1 + n_before % n_others };
        Ok(Stream::new(&self.context, QueueId(queue)))
    }

    /// An event for [`Stream::record_event`].
    pub fn event(&self) -> Result<Event> {
        self.context.device("make an event with")?;
        Ok(Event::new(&self.context))
    }

    /// Waits for all work of the manager, `None` without a limit. False if it timed out. It returns the first
    /// error of the work that nobody has waited for.
    pub fn sync(&self, timeout: Option<Duration>) -> Result<bool> {
        self.context.device("wait for")?;
        Ok(self.context.wait_for_all(timeout)? == Waited::Done)
    }

    /// The submission whose error was returned last.
    pub fn last_failed(&self) -> Option<Ticket> {
        self.context.last_failed()
    }

    /// Creates a sequence with this name, and replaces an existing one.
    pub fn create_sequence(&self, name: &str, queue: impl Into<Option<u32>>) -> Result<Sequence> {
        let sequence = self.make_sequence(queue.into(), Timestamps::Off)?;
        self.named.borrow_mut().insert(name.to_owned(), sequence.clone());
        Ok(sequence)
    }

    /// The sequence with this name, which is created if there is none.
    pub fn get_create_sequence(&self, name: &str) -> Result<Sequence> {
        match self.named_sequence(name) {
            Some(sequence) => Ok(sequence),
            None => self.create_sequence(name, None),
        }
    }

    /// The sequence with this name, if there is one that was not destroyed.
    pub fn named_sequence(&self, name: &str) -> Option<Sequence> {
        self.named.borrow().get(name).filter(|sequence| sequence.is_init()).cloned()
    }

    /// Starts an anonymous sequence, and stores it until [`Manager::await_started`].
    pub fn start(&self, sequence: Sequence) -> Result<()> {
        sequence.eval_async()?;
        self.started.borrow_mut().push(sequence);
        Ok(())
    }

    /// Waits for all sequences that `start` started. False if one timed out.
    pub fn await_started(&self, timeout: Option<Duration>) -> Result<bool> {
        let mut waiting = std::mem::take(&mut *self.started.borrow_mut()).into_iter();
        let mut all_done = true;
        for sequence in waiting.by_ref() {
            match sequence.eval_await(timeout) {
                Ok(true) => {}
                Ok(false) => {
                    all_done = false;
                    self.started.borrow_mut().push(sequence);
                }
                Err(error) => {
                    self.started.borrow_mut().extend(waiting);
                    return Err(error);
                }
            }
        }
        Ok(all_done)
    }

    /// Starts one launch of a kernel. Missing samplers sample the nearest texel. Host reads wait for the
    /// launch, and return its errors.
    pub fn launch(
        &self,
        kernel: &Rc<Kernel>,
        tensors: &[Tensor],
        extent: &Extent,
        push: &Push,
        samplers: &[SamplerBinding],
    ) -> Result<Ticket> {
        self.start_launch(&self.prepare_launch(kernel, tensors, extent, samplers)?, tensors, push)
    }

    /// The part of a launch that is the same for all tensors with the types and shapes of these, and for all
    /// scalars.
    pub fn prepare_launch(
        &self,
        kernel: &Rc<Kernel>,
        tensors: &[Tensor],
        extent: &Extent,
        samplers: &[SamplerBinding],
    ) -> Result<PreparedLaunch> {
        PreparedLaunch::new(kernel, tensors, extent, samplers)
    }

    /// Starts a prepared launch.
    pub fn start_launch(&self, launch: &PreparedLaunch, tensors: &[Tensor], push: &Push) -> Result<Ticket> {
        launch.start(&self.context, tensors, push)
    }

    /// Takes the prints and failed assertions of kernels since the last call. A launch or sequence with
    /// records has ended when its start returns.
    pub fn take_report(&self) -> Report {
        self.context.take_report()
    }

    /// Takes the findings of instrumented kernels that have ended.
    pub fn findings(&self) -> Vec<Finding> {
        self.context.device("ask").map_or(Vec::new(), |device| device.findings())
    }

    /// Waits for one launch. False if it timed out.
    pub fn wait(&self, ticket: Ticket, timeout: Option<Duration>) -> Result<bool> {
        Ok(self.context.wait(ticket, timeout)? == Waited::Done)
    }

    /// False after it was destroyed.
    pub fn is_init(&self) -> bool {
        self.context.is_alive()
    }

    /// Destroys every tensor, algorithm and sequence of the manager, and releases the device.
    pub fn destroy(&self) {
        self.named.borrow_mut().clear();
        self.started.borrow_mut().clear();
        self.context.destroy();
    }
}

/// Options for opening a manager's device.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    selector: Selector,
    options: OpenOptions,
    log: Log,
    tracer: Option<Tracer>,
}

impl Builder {
    pub fn device(self, selector: Selector) -> Builder {
        Builder { selector, ..self }
    }

    /// One queue of each of these families; see [`OpenOptions::queue_families`]. A device with fewer queues
    /// shares them.
    pub fn queue_families(mut self, families: &[u32]) -> Builder {
        self.options.queue_families = families.to_vec();
        self
    }

    /// Additional extensions of the device's API.
    pub fn extensions(mut self, extensions: &[String]) -> Builder {
        self.options.extensions = extensions.to_vec();
        self
    }

    /// Records the cost of kernels; this selects the CPU device.
    pub fn profile(mut self, recorder: Option<Recorder>) -> Builder {
        self.options.profile = recorder;
        self
    }

    pub fn log(self, log: Log) -> Builder {
        Builder { log, ..self }
    }

    /// Records a trace of the device.
    pub fn trace(self, tracer: Option<Tracer>) -> Builder {
        Builder { tracer, ..self }
    }

    /// Limits the memory of the device in bytes.
    pub fn memory_limit(mut self, n_bytes: Option<u64>) -> Builder {
        self.options.memory_limit = n_bytes;
        self
    }

    pub fn open(self) -> Result<Manager> {
        self.open_with(select::open)
    }

    /// Opens the device by another function than [`select::open`], such as one that wraps it.
    pub fn open_with(
        self,
        open: impl FnOnce(&Selector, &OpenOptions) -> kps_device::Result<Opened>,
    ) -> Result<Manager> {
        let log = &self.log;
        log.event(Level::Debug, || "Kompute Manager creating instance".to_owned());
        log.event(Level::Debug, || "Kompute Manager Instance Created".to_owned());
        log.event(Level::Debug, || "Kompute Manager creating Device".to_owned());
        let opened = open(&self.selector, &self.options)?;
        for warning in &opened.warnings {
            log.event(Level::Warning, || warning.clone());
        }
        log.event(Level::Info, || using(&self.selector, opened.device.info()));
        let n_asked = self.options.n_queues() as u32;
        let manager = Manager::traced_over(opened.device, self.log, self.tracer);
        if self.options.profile.is_some() {
            manager.context.forget_peak();
        }
        Ok(Manager { n_queues: manager.n_queues.max(n_asked), ..manager })
    }
}

/// Kompute's message. A device that was selected by name is the only one of its list, so it is number 0.
fn using(selector: &Selector, info: &DeviceInfo) -> String {
    let index = if let Selector::Index(index) = selector { *index } else { 0 };
    format!("Using physical device index {index} found {}", info.name)
}
