//! The only owner of a tensor's bytes, on the host and on the device.
//!
//! A [`Storage`] knows which side has the newest bytes, and copies them when the other side needs them.
//! Reading downloads, preparing for the device uploads, and nothing is copied twice. It has one value: a sync
//! moves it, and never restores an older one. If the device shares its memory with the host, there is one
//! copy of the bytes, and nothing is moved.
//!
//! What never happens: the host sees bytes that a submission is still writing, device memory outlives the
//! last reference, or a use after `destroy` gives anything but an error.

use std::cell::{Cell, OnceCell, Ref, RefCell, RefMut};
use std::ops::Range;
use std::rc::{Rc, Weak};

use kps_device::{Access, BufferId, ImageInfo, MemoryUsage, Ticket, host};

use crate::DType;
use crate::context::{Context, Dependent};
use crate::error::{ComputeError, Result};
use crate::host_memory::Taken;
use crate::log::Level;
use crate::memory::{Counted, TensorMemory};
use crate::owned::{Old, Owned};
use crate::sides::{HostBytes, Placed, Sides, State};
use crate::views;
use crate::written::Written;

/// The memory of a tensor's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum MemoryType {
    /// Device memory, with a copy on the host.
    #[default]
    Device,
    /// Host memory that kernels can access.
    Host,
    /// Device memory that the host never reads.
    Storage,
    /// Device memory that the host accesses without a copy, if there is any.
    DeviceAndHost,
}

impl MemoryType {
    fn usage(self) -> MemoryUsage {
        match self {
            MemoryType::Host => MemoryUsage::Host,
            MemoryType::Device | MemoryType::Storage | MemoryType::DeviceAndHost => MemoryUsage::Device,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            MemoryType::Device => "device",
            MemoryType::Host => "host",
            MemoryType::Storage => "storage",
            MemoryType::DeviceAndHost => "deviceAndHost",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Alive,
    Destroyed,
    /// Another storage has the tensor's bytes now.
    Resized,
}

/// What has the bytes of a storage that was resized, and the shape of its tensor.
struct Successor {
    storage: Weak<Storage>,
    shape: Rc<[usize]>,
}

/// A computation that reads a storage later, and needs the bytes that are there now.
pub trait PendingRead {
    /// Starts the computation, unless it was started.
    fn compute(self: Rc<Self>) -> Result<()>;
}

/// The bytes of a tensor and of all its views.
pub struct Storage {
    len: usize,
    memory: MemoryType,
    /// For images: their properties.
    image: Option<ImageInfo>,
    /// Whether the first submission that uses it overwrites all of it: it is not cleared for that.
    is_overwritten: bool,
    /// The name in errors.
    label: String,
    /// Type and shape of the first tensor over it.
    described: OnceCell<(DType, Box<[usize]>)>,
    /// Outside of `sides`, so that it can be set while the bytes are borrowed.
    life: Cell<Life>,
    /// If it was resized.
    successor: RefCell<Option<Successor>>,
    /// The initialised bytes, as far as the host wrote them.
    written: RefCell<Written>,
    /// Computations that are still to read the bytes.
    pending: RefCell<Vec<Weak<dyn PendingRead>>>,
    /// The manager with which the storage ends.
    owner: RefCell<Weak<Context>>,
    /// Other managers on whose devices it was. It returns from one that ends.
    borrowers: RefCell<Vec<Weak<Context>>>,
    sides: RefCell<Sides>,
}

/// The required contents of a buffer that a submission uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The newest bytes.
    Current,
    /// Arbitrary: the submission overwrites all of it before it reads any.
    Overwritten,
}

/// Small reads of large tensors download only their range, up to this number; then downloading the whole
/// tensor is cheaper.
const PARTIAL_READS: u32 = 4;
const ALWAYS_WHOLE: usize = 1 << 16;

impl Storage {
    /// The host's bytes, which are uploaded on demand.
    pub(crate) fn new(bytes: Rc<Vec<u8>>, memory: MemoryType, label: String) -> Rc<Storage> {
        Storage::build(bytes.len(), HostBytes::Own(Owned::new(bytes)), memory, label)
    }

    /// Bytes of a host array that is on no device. Only such a storage may be empty.
    pub fn host(bytes: Vec<u8>) -> Rc<Storage> {
        Storage::new(Rc::new(bytes), MemoryType::Host, "array".to_owned())
    }

    /// Zeros, which need no host memory and no upload.
    pub(crate) fn zeros(len: usize, memory: MemoryType, label: String) -> Rc<Storage> {
        Storage::build(len, HostBytes::None, memory, label)
    }

    /// Memory that the first submission overwrites.
    pub(crate) fn overwritten(len: usize, memory: MemoryType, label: String) -> Rc<Storage> {
        let mut storage = Storage::zeros(len, memory, label);
        Rc::get_mut(&mut storage).expect("it was just made").is_overwritten = true;
        storage
    }

    /// The texels of an image.
    pub(crate) fn image(
        image: ImageInfo,
        bytes: Rc<Vec<u8>>,
        memory: MemoryType,
        label: String,
    ) -> Rc<Storage> {
        let mut storage = Storage::new(bytes, memory, label);
        Rc::get_mut(&mut storage).expect("it was just made").image = Some(image);
        storage
    }

    fn build(len: usize, host: HostBytes, memory: MemoryType, label: String) -> Rc<Storage> {
        let sides = Sides {
            state: State::Host { changed: 0..len },
            host,
            placed: None,
            readers: Vec::new(),
            partial_reads: 0,
        };
        Rc::new(Storage {
            len,
            memory,
            image: None,
            is_overwritten: false,
            label,
            described: OnceCell::new(),
            life: Cell::new(Life::Alive),
            successor: RefCell::default(),
            written: RefCell::default(),
            pending: RefCell::default(),
            owner: RefCell::new(Weak::new()),
            borrowers: RefCell::default(),
            sides: RefCell::new(sides),
        })
    }

    /// A copy of the bytes in a new storage.
    pub fn copy(&self) -> Result<Rc<Storage>> {
        let bytes = self.shared_bytes("copy")?;
        let (memory, label) = (self.memory, self.label.clone());
        Ok(match self.image {
            Some(image) => Storage::image(image, bytes, memory, label),
            None => Storage::new(bytes, memory, label),
        })
    }

    /// Marks all but these bytes as uninitialised. They are zeros, so that all runs are equal.
    pub fn forget_but(&self, written: Written) {
        self.written.replace(written);
    }

    /// The initialised bytes; all of them once a kernel has written any.
    pub fn written(&self) -> Ref<'_, Written> {
        self.written.borrow()
    }

    /// Size in bytes; at least one for tensors.
    #[allow(clippy::len_without_is_empty, reason = "no caller needs to know whether a storage is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn memory(&self) -> MemoryType {
        self.memory
    }

    pub fn as_image(&self) -> Option<&ImageInfo> {
        self.image.as_ref()
    }

    /// The name in errors.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Remembers the type and the shape of the first tensor over it.
    pub(crate) fn describe(&self, dtype: DType, shape: &[usize]) {
        self.described.get_or_init(|| (dtype, shape.into()));
    }

    /// Its row in the memory of a manager, if it is on that manager's device.
    pub(crate) fn memory_on(&self, context: &Rc<Context>) -> Option<TensorMemory> {
        let sides = self.sides.try_borrow().ok()?;
        let placed = sides.placed.as_ref()?;
        let (dtype, shape) = self.described.get().cloned().unwrap_or((DType::U8, [self.len].into()));
        Rc::ptr_eq(&placed.context, context).then(|| TensorMemory {
            label: self.label.clone(),
            dtype,
            shape: shape.into(),
            bytes: self.len as u64,
        })
    }

    pub fn is_init(&self) -> bool {
        self.life.get() == Life::Alive
    }

    /// Frees all memory at once; on the device, after the last submission that uses it.
    pub fn destroy(&self) {
        self.end(Life::Destroyed);
    }

    fn end(&self, life: Life) {
        if self.is_init() {
            self.life.set(life);
        }
        // Borrowed bytes stay until the last reference is dropped.
        if let Ok(mut sides) = self.sides.try_borrow_mut() {
            sides.release();
        }
    }

    /// The first bytes of this storage in one of another size, whose other bytes are zeros. This one ends.
    pub(crate) fn resized(
        self: &Rc<Storage>,
        len: usize,
        shape: Rc<[usize]>,
        label: String,
    ) -> Result<Rc<Storage>> {
        self.compute_pending()?;
        let resized = Storage::zeros(len, self.memory, label);
        let kept = 0..len.min(self.len);
        let newest_on = {
            let sides = self.borrow("resize")?;
            let placed = sides.placed.as_ref().filter(|_| !sides.is_at_hand());
            match (placed, &sides.host) {
                (None, HostBytes::None) => None,
                (None, _) => {
                    let mut own = Owned::zeroed(len)?;
                    let bytes = own.bytes_mut(Old::Kept)?;
                    bytes[kept.clone()].copy_from_slice(&sides.bytes(self.len)[kept.clone()]);
                    resized.sides.borrow_mut().host = HostBytes::Own(own);
                    None
                }
                (Some(placed), _) => Some(placed.context.clone()),
            }
        };
        // Its owner is that of this one, also if it is on the device of another manager.
        if let Some(owner) = self.owner.borrow().upgrade() {
            resized.belong_to(&owner);
        }
        if let Some(context) = newest_on {
            views::start_copy(&context, self, &resized, kept.len())?;
        }
        let written = self.written().gathered(|marks| {
            let new = std::iter::repeat_n(1, len - kept.len());
            Ok::<_, ComputeError>(marks[kept.clone()].iter().copied().chain(new).collect())
        })?;
        resized.forget_but(written);
        self.successor.replace(Some(Successor { storage: Rc::downgrade(&resized), shape }));
        self.end(Life::Resized);
        Ok(resized)
    }

    /// The storage that has the bytes since this one was resized.
    pub(crate) fn successor(&self) -> Option<(Rc<Storage>, Rc<[usize]>)> {
        let successor = self.successor.borrow();
        let successor = successor.as_ref()?;
        Some((successor.storage.upgrade()?, successor.shape.clone()))
    }

    /// Whether it has device memory.
    pub fn is_on_device(&self) -> bool {
        self.sides.try_borrow().is_ok_and(|sides| sides.placed.is_some())
    }

    /// Makes the storage end with a manager. If another living manager owns it, it is only borrowed.
    pub(crate) fn belong_to(self: &Rc<Storage>, context: &Rc<Context>) {
        if self.belongs_to(context) {
            return;
        }
        let is_owned = self.owner.borrow().upgrade().is_some_and(|owner| owner.is_alive());
        if is_owned {
            let mut borrowers = self.borrowers.borrow_mut();
            borrowers.retain(|borrower| borrower.strong_count() > 0);
            if borrowers.iter().any(|borrower| std::ptr::eq(borrower.as_ptr(), Rc::as_ptr(context))) {
                return;
            }
            borrowers.push(Rc::downgrade(context));
        } else {
            *self.owner.borrow_mut() = Rc::downgrade(context);
        }
        let weak: Weak<Storage> = Rc::downgrade(self);
        context.register(weak);
    }

    pub(crate) fn belongs_to(&self, context: &Rc<Context>) -> bool {
        std::ptr::eq(self.owner.borrow().as_ptr(), Rc::as_ptr(context))
    }

    /// Calls `look` with the newest bytes, which are downloaded if necessary.
    pub fn read<R>(&self, operation: &'static str, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.check_readable(operation)?;
        self.fetch(operation)?;
        let sides = self.borrow(operation)?;
        Ok(look(sides.bytes(self.len)))
    }

    /// The newest bytes, which are shared until somebody writes them; those of device memory are copied.
    pub fn shared_bytes(&self, operation: &'static str) -> Result<Rc<Vec<u8>>> {
        self.check_readable(operation)?;
        self.fetch(operation)?;
        let sides = self.borrow(operation)?;
        if let HostBytes::Own(own) = &sides.host {
            return Ok(own.shared().clone());
        }
        let mut copy = Owned::zeroed(self.len)?;
        host::copy(sides.bytes(self.len), copy.bytes_mut(Old::Unused)?);
        Ok(copy.shared().clone())
    }

    /// Calls `look` with a range of the newest bytes. Of a large tensor, only the range is downloaded.
    pub fn read_range<R>(
        &self,
        operation: &'static str,
        range: Range<usize>,
        look: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        self.check_readable(operation)?;
        if self.borrow(operation)?.is_at_hand() {
            return self.read(operation, |bytes| look(&bytes[range]));
        }
        let mut sides = self.borrow_mut(operation)?;
        sides.await_writer()?;
        let few = self.len > ALWAYS_WHOLE && range.len() <= self.len / 16;
        if sides.state == State::Device && few && sides.partial_reads < PARTIAL_READS {
            sides.partial_reads += 1;
            let mut part = vec![0; range.len()];
            let placed = sides.newest();
            placed.device.read(placed.buffer, range.start as u64, &mut part)?;
            return Ok(look(&part));
        }
        drop(sides);
        self.read(operation, |bytes| look(&bytes[range]))
    }

    /// Lets a computation start before the bytes change.
    pub fn add_pending(&self, read: Weak<dyn PendingRead>) {
        let mut pending = self.pending.borrow_mut();
        if pending.len() == pending.capacity() {
            pending.retain(|read| read.strong_count() > 0);
        }
        pending.push(read);
    }

    /// Starts the computations that are still to read the bytes, because these are about to change.
    pub(crate) fn compute_pending(&self) -> Result<()> {
        if self.pending.borrow().is_empty() {
            return Ok(());
        }
        let pending = self.pending.take();
        pending.iter().filter_map(Weak::upgrade).try_for_each(PendingRead::compute)
    }

    /// Calls `change`, which overwrites a range of bytes.
    pub fn write<R>(
        &self,
        operation: &'static str,
        range: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let mut sides = self.writable(operation)?;
        self.written.borrow_mut().note(self.len, range.clone());
        self.change(&mut sides, range, change, Old::Kept)
    }

    /// Calls `change`, which overwrites every byte of a range, and never looks at the older values.
    pub fn overwrite<R>(
        &self,
        operation: &'static str,
        range: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        if range != (0..self.len) {
            return self.write(operation, range, change);
        }
        self.check_readable(operation)?;
        self.compute_pending()?;
        let mut sides = self.borrow_mut(operation)?;
        self.discard(&mut sides)?;
        sides.own_zeros(self.len)?;
        self.written.replace(Written::All);
        self.change(&mut sides, range, change, Old::Unused)
    }

    /// Calls `change`, which writes some bytes within a range; `mark` writes a 1 for each of them.
    pub fn write_among<R>(
        &self,
        operation: &'static str,
        range: Range<usize>,
        mark: impl FnOnce(&mut [u8]),
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        let mut sides = self.writable(operation)?;
        self.written.borrow_mut().note_among(self.len, range.clone(), mark);
        self.change(&mut sides, range, change, Old::Kept)
    }

    fn writable(&self, operation: &'static str) -> Result<RefMut<'_, Sides>> {
        self.check_readable(operation)?;
        self.compute_pending()?;
        self.fetch(operation)?;
        self.borrow_mut(operation)
    }

    fn change<R>(
        &self,
        sides: &mut Sides,
        range: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
        old: Old,
    ) -> Result<R> {
        if sides.is_shared() {
            sides.await_readers()?;
            sides.mark_written(&self.written(), range.clone());
            return Ok(change(&mut sides.bytes_mut(self.len, old)?[range]));
        }
        let result = change(&mut sides.bytes_mut(self.len, old)?[range.clone()]);
        sides.host_changed(range);
        Ok(result)
    }

    /// The newest bytes are not needed any more: all of them are about to be overwritten by the host.
    fn discard(&self, sides: &mut Sides) -> Result<()> {
        if sides.is_shared() {
            return sides.await_writer();
        }
        // The next writer on the device follows the running one.
        if let State::InFlight(ticket) = sides.state {
            sides.readers.push(ticket);
        }
        sides.state = State::Host { changed: 0..self.len };
        Ok(())
    }

    /// Replaces all bytes; `bytes` must have the same size.
    pub(crate) fn replace(&self, operation: &'static str, bytes: Rc<Vec<u8>>) -> Result<()> {
        self.compute_pending()?;
        let mut sides = self.borrow_mut(operation)?;
        self.written.replace(Written::All);
        self.discard(&mut sides)?;
        if sides.is_shared() {
            sides.await_readers()?;
            sides.mark_written(&Written::All, 0..self.len);
            host::copy(&bytes, sides.bytes_mut(self.len, Old::Unused)?);
        } else {
            sides.host = HostBytes::Own(Owned::new(bytes));
        }
        Ok(())
    }

    /// Downloads the newest bytes if only the device has them.
    pub(crate) fn fetch(&self, operation: &'static str) -> Result<()> {
        // Nested reads are fine as long as no bytes move.
        if self.borrow(operation)?.is_at_hand() {
            return Ok(());
        }
        let mut sides = self.borrow_mut(operation)?;
        let context = sides.placed.as_ref().map(|placed| placed.context.clone());
        let _span = context.and_then(|context| context.span(format!("read {}", self.label)));
        sides.await_writer()?;
        if sides.state != State::Device {
            return sides.own_zeros(self.len);
        }
        sides.own_zeros(self.len)?;
        let Sides { host: HostBytes::Own(own), placed: Some(placed), .. } = &mut *sides else {
            unreachable!("what only the device has is placed there, and host memory was just made")
        };
        own.download(placed)?;
        sides.state = State::Both;
        Ok(())
    }

    /// Allocates device memory, and uploads the newest bytes if `contents` requires them.
    pub(crate) fn prepare(
        self: &Rc<Storage>,
        context: &Rc<Context>,
        contents: Contents,
        operation: &'static str,
    ) -> Result<BufferId> {
        let placed_here = {
            let sides = self.borrow(operation)?;
            sides.placed.as_ref().map(|placed| Rc::ptr_eq(&placed.context, context))
        };
        if placed_here == Some(false) {
            self.leave_device(operation)?;
        }
        if placed_here != Some(true) {
            self.belong_to(context);
            self.place(context, operation)?;
        }
        self.upload(contents, operation)
    }

    /// Downloads the bytes, and frees the device memory.
    fn leave_device(&self, operation: &'static str) -> Result<()> {
        self.fetch(operation)?;
        let mut sides = self.borrow_mut(operation)?;
        sides.await_readers()?;
        if sides.is_shared() {
            let mut own = Owned::zeroed(self.len)?;
            host::copy(sides.bytes(self.len), own.bytes_mut(Old::Unused)?);
            sides.host = HostBytes::Own(own);
        }
        sides.release_place();
        sides.state = State::Host { changed: 0..self.len };
        Ok(())
    }

    fn place(&self, context: &Rc<Context>, operation: &'static str) -> Result<()> {
        let mut sides = self.borrow_mut(operation)?;
        let device = context.device(operation)?;
        let taken = Taken::on(device.info(), self.len)?;
        let buffer = match &self.image {
            Some(image) => device.alloc_image(image)?,
            None => device.alloc(self.len as u64, self.memory.usage())?,
        };
        device.name(buffer, &self.label);
        if self.is_overwritten {
            device.skip_clearing(buffer);
        }
        context.log.event(Level::Debug, || format!("allocated {} on the device", self.label));
        let shared = device.host_memory(buffer).filter(|memory| memory.len >= self.len);
        let counted = Counted::new(context, self.len as u64);
        let is_image = self.image.is_some();
        let context = context.clone();
        sides.placed = Some(Placed { context, device, buffer, is_image, _taken: taken, _counted: counted });
        sides.mark_blank(&self.written(), self.len);
        let Some(memory) = shared else {
            // Fresh memory is already zero.
            if let HostBytes::None = sides.host {
                sides.state = State::Both;
            }
            return Ok(());
        };
        let before = std::mem::replace(&mut sides.host, HostBytes::Shared(memory));
        if let HostBytes::Own(own) = before {
            host::copy(own.bytes(), sides.bytes_mut(self.len, Old::Unused)?);
        }
        sides.state = State::Both;
        Ok(())
    }

    fn upload(&self, contents: Contents, operation: &'static str) -> Result<BufferId> {
        let mut sides = self.borrow_mut(operation)?;
        let sides = &mut *sides;
        let placed = sides.placed.as_ref().expect("the caller placed it");
        if let State::Host { changed } = &sides.state
            && contents == Contents::Current
        {
            let HostBytes::Own(own) = &mut sides.host else {
                unreachable!("bytes that the device lacks are the host's own")
            };
            own.upload(placed, changed.clone())?;
            sides.state = State::Both;
            if self.memory == MemoryType::Storage {
                sides.host = HostBytes::None;
            }
        }
        Ok(placed.buffer)
    }

    /// Waits until newer bytes of the host have arrived.
    pub(crate) fn await_upload(&self) -> Result<()> {
        match self.sides.try_borrow_mut().as_deref_mut() {
            Ok(Sides { host: HostBytes::Own(own), .. }) => own.await_upload(),
            _ => Ok(()),
        }
    }

    /// Adds the submissions that a submission with this access must follow.
    pub(crate) fn predecessors(&self, access: Access, after: &mut Vec<Ticket>) {
        let Ok(sides) = self.sides.try_borrow() else { return };
        let Some(placed) = &sides.placed else { return };
        let mut add = |ticket: Ticket| {
            if !placed.context.has_ended(ticket) && !after.contains(&ticket) {
                after.push(ticket);
            }
        };
        if let State::InFlight(ticket) = sides.state {
            add(ticket);
        }
        if access.writes() {
            sides.readers.iter().copied().for_each(add);
        }
    }

    /// Records a submission that uses the bytes.
    pub(crate) fn submitted(&self, ticket: Ticket, access: Access) {
        let Ok(mut sides) = self.sides.try_borrow_mut() else { return };
        if access.writes() {
            self.written.replace(Written::All);
            sides.state = State::InFlight(ticket);
            sides.readers.clear();
            sides.partial_reads = 0;
        } else {
            sides.readers.retain(|reader| reader.queue != ticket.queue);
            sides.readers.push(ticket);
        }
    }

    pub(crate) fn check_readable(&self, operation: &'static str) -> Result<()> {
        if self.memory == MemoryType::Storage && self.is_init() {
            return Err(ComputeError::NotReadable { what: self.label.clone(), operation });
        }
        Ok(())
    }

    fn borrow(&self, operation: &'static str) -> Result<Ref<'_, Sides>> {
        self.check_alive(operation)?;
        self.sides.try_borrow().map_err(|_| self.in_use(operation))
    }

    fn borrow_mut(&self, operation: &'static str) -> Result<RefMut<'_, Sides>> {
        self.check_alive(operation)?;
        self.sides.try_borrow_mut().map_err(|_| self.in_use(operation))
    }

    pub(crate) fn check_alive(&self, operation: &'static str) -> Result<()> {
        let what = || self.label.clone();
        match self.life.get() {
            Life::Alive => Ok(()),
            Life::Destroyed => Err(ComputeError::Destroyed { what: what(), operation }),
            Life::Resized => Err(ComputeError::Resized { what: what(), operation }),
        }
    }

    fn in_use(&self, operation: &'static str) -> ComputeError {
        ComputeError::InUse { what: self.label.clone(), operation }
    }
}

impl Dependent for Storage {
    fn as_storage(&self) -> Option<&Storage> {
        Some(self)
    }

    fn end_with(&self, context: &Context) {
        let owned = std::ptr::eq(self.owner.borrow().as_ptr(), context);
        if owned {
            self.destroy();
            return;
        }
        let is_there = self.sides.try_borrow().is_ok_and(|sides| {
            sides.placed.as_ref().is_some_and(|placed| std::ptr::eq(Rc::as_ptr(&placed.context), context))
        });
        // Bytes that only a lost device had are gone; the next read reports it.
        if is_there && self.leave_device("keep").is_err() {
            self.destroy();
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.sides.get_mut().release();
    }
}
