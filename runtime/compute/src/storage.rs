//! The one owner of a tensor's bytes, on the host and on the device.
//!
//! A [`Storage`] knows which side has the newest bytes and moves them when the other side is asked:
//! reading downloads, preparing for the device uploads, and nothing is moved twice. It has one value,
//! wherever that lies: a sync moves it and never brings back an older one. Where the device shares its
//! memory with the host there is one copy of the bytes and nothing is moved at all.
//!
//! What never happens: host code sees bytes that a submission is still writing, device memory outlives
//! the last reference, or anything but an error comes of use after `destroy`.

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::ops::Range;
use std::rc::{Rc, Weak};

use kps_device::{Access, BufferId, Device, HostMemory, ImageInfo, MemoryUsage, Ticket};

use crate::context::{Context, Dependent};
use crate::error::{ComputeError, Result};

/// Where a tensor's bytes may live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum MemoryType {
    /// Memory of the device, with a copy on the host.
    #[default]
    Device,
    /// Memory of the host that kernels reach.
    Host,
    /// Memory of the device that the host never reads.
    Storage,
    /// Memory of the device that the host reaches without a copy, where there is such memory.
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

/// The bytes of one tensor and of all views of it.
pub struct Storage {
    len: usize,
    memory: MemoryType,
    /// What its bytes are the texels of, where kernels see an image.
    image: Option<ImageInfo>,
    /// How errors name it.
    label: String,
    /// Outside of `inner`, so that it can be set while the bytes are being looked at.
    destroyed: Cell<bool>,
    /// Whether nobody has written any of the bytes, and they mean nothing.
    blank: Cell<bool>,
    /// The manager whose end is the storage's end.
    owner: RefCell<Weak<Context>>,
    inner: RefCell<Inner>,
}

struct Inner {
    state: State,
    host: HostBytes,
    placed: Option<Placed>,
    /// The last submission of each queue that the next writer must come after.
    readers: Vec<Ticket>,
    partial_reads: u32,
}

/// Which side has the newest bytes.
#[derive(Clone, Debug, PartialEq)]
enum State {
    /// The host; `changed` are the bytes in which it differs from the device's.
    Host { changed: Range<usize> },
    /// The device.
    Device,
    /// Both have the same.
    Both,
    /// A submission is writing the device's.
    InFlight(Ticket),
}

enum HostBytes {
    /// Zeros, or bytes older than the device's: no memory is spent on them.
    None,
    Own(Vec<u8>),
    /// The device's own memory.
    Shared(HostMemory),
}

struct Placed {
    context: Rc<Context>,
    /// Kept beside the context's: the memory must not go away with the manager while it is looked at.
    device: Rc<dyn Device>,
    buffer: BufferId,
}

/// What a submission finds in a buffer that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// The newest bytes.
    Current,
    /// Anything: the submission overwrites all of it before it reads any.
    Overwritten,
}

/// Small reads of large tensors are answered alone, until there have been so many that fetching the
/// whole tensor once is the better bargain.
const PARTIAL_READS: u32 = 4;
const ALWAYS_WHOLE: usize = 1 << 16;

impl Storage {
    /// The host's bytes, for the device to have when it needs them.
    pub(crate) fn new(bytes: Vec<u8>, memory: MemoryType, label: String) -> Rc<Storage> {
        Storage::build(bytes.len(), HostBytes::Own(bytes), memory, label)
    }

    /// Bytes of an array of the host, which no device has. Such a storage alone may be empty.
    pub fn host(bytes: Vec<u8>) -> Rc<Storage> {
        Storage::build(bytes.len(), HostBytes::Own(bytes), MemoryType::Host, "array".to_owned())
    }

    /// Zeros, which cost neither memory on the host nor a copy to the device.
    pub(crate) fn zeros(len: usize, memory: MemoryType, label: String) -> Rc<Storage> {
        Storage::build(len, HostBytes::None, memory, label)
    }

    /// The texels of an image.
    pub(crate) fn image(image: ImageInfo, bytes: Vec<u8>, memory: MemoryType, label: String) -> Rc<Storage> {
        let mut storage = Storage::build(bytes.len(), HostBytes::Own(bytes), memory, label);
        Rc::get_mut(&mut storage).expect("it was just made").image = Some(image);
        storage
    }

    fn build(len: usize, host: HostBytes, memory: MemoryType, label: String) -> Rc<Storage> {
        let inner = Inner {
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
            label,
            destroyed: Cell::new(false),
            blank: Cell::new(false),
            owner: RefCell::new(Weak::new()),
            inner: RefCell::new(inner),
        })
    }

    /// The same bytes again, for nobody else to see.
    pub fn copy(&self) -> Result<Rc<Storage>> {
        let bytes = self.read("copy", <[u8]>::to_vec)?;
        let (memory, label) = (self.memory, self.label.clone());
        Ok(match self.image {
            Some(image) => Storage::image(image, bytes, memory, label),
            None => Storage::new(bytes, memory, label),
        })
    }

    /// Says that the bytes mean nothing until somebody writes them. They are zeros, so that no two runs differ.
    pub fn forget(&self) {
        self.blank.set(true);
    }

    /// Whether nobody has written any of the bytes since they were said to mean nothing.
    pub fn is_blank(&self) -> bool {
        self.blank.get()
    }

    /// Bytes; at least one for tensors.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks whether a storage is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn memory(&self) -> MemoryType {
        self.memory
    }

    pub fn as_image(&self) -> Option<&ImageInfo> {
        self.image.as_ref()
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    pub fn is_init(&self) -> bool {
        !self.destroyed.get()
    }

    /// Gives all memory back at once; on the device, after the last submission that uses it.
    pub fn destroy(&self) {
        self.destroyed.set(true);
        // Bytes that are being looked at stay until the last reference goes.
        if let Ok(mut inner) = self.inner.try_borrow_mut() {
            inner.release();
        }
    }

    /// Whether the device has memory for it.
    pub fn is_on_device(&self) -> bool {
        self.inner.try_borrow().is_ok_and(|inner| inner.placed.is_some())
    }

    /// Lets the storage end with its manager.
    pub(crate) fn belong_to(self: &Rc<Storage>, context: &Rc<Context>) {
        if !self.belongs_to(context) {
            *self.owner.borrow_mut() = Rc::downgrade(context);
            let weak: Weak<Storage> = Rc::downgrade(self);
            context.register(weak);
        }
    }

    pub(crate) fn belongs_to(&self, context: &Rc<Context>) -> bool {
        std::ptr::eq(self.owner.borrow().as_ptr(), Rc::as_ptr(context))
    }

    /// Calls `look` with the newest bytes, downloaded first where the device has them alone.
    pub fn read<R>(&self, operation: &'static str, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.check_readable(operation)?;
        self.fetch(operation)?;
        let inner = self.borrow(operation)?;
        Ok(look(inner.bytes(self.len)))
    }

    /// Calls `look` with some of the newest bytes. Of a large tensor, only those are downloaded.
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
        let mut inner = self.borrow_mut(operation)?;
        inner.settle()?;
        let few = self.len > ALWAYS_WHOLE && range.len() <= self.len / 16;
        if inner.state == State::Device && few && inner.partial_reads < PARTIAL_READS {
            inner.partial_reads += 1;
            let mut part = vec![0; range.len()];
            let placed = inner.newest();
            placed.device.read(placed.buffer, range.start as u64, &mut part)?;
            return Ok(look(&part));
        }
        drop(inner);
        self.read(operation, |bytes| look(&bytes[range]))
    }

    /// Lets `change` write into some of the bytes.
    pub fn write<R>(
        &self,
        operation: &'static str,
        range: Range<usize>,
        change: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        self.check_readable(operation)?;
        self.fetch(operation)?;
        let mut inner = self.borrow_mut(operation)?;
        self.blank.set(false);
        if inner.is_shared() {
            inner.await_readers()?;
            inner.tell_written(&range);
            return Ok(change(&mut inner.bytes_mut(self.len)[range]));
        }
        let result = change(&mut inner.bytes_mut(self.len)[range.clone()]);
        inner.host_changed(range);
        Ok(result)
    }

    /// Replaces all bytes. `bytes` are as many as the storage has.
    pub(crate) fn replace(&self, operation: &'static str, bytes: Vec<u8>) -> Result<()> {
        let mut inner = self.borrow_mut(operation)?;
        self.blank.set(false);
        if inner.is_shared() {
            inner.settle()?;
            inner.await_readers()?;
            inner.tell_written(&(0..self.len));
            inner.bytes_mut(self.len).copy_from_slice(&bytes);
            return Ok(());
        }
        // What is in flight writes bytes that nobody will see: whoever writes next comes after it.
        if let State::InFlight(ticket) = inner.state {
            inner.readers.push(ticket);
        }
        inner.host = HostBytes::Own(bytes);
        inner.state = State::Host { changed: 0..self.len };
        Ok(())
    }

    /// Gives the host the newest bytes, where the device has them alone.
    pub(crate) fn fetch(&self, operation: &'static str) -> Result<()> {
        // Looks within looks are fine as long as nothing moves.
        if self.borrow(operation)?.is_at_hand() {
            return Ok(());
        }
        let mut inner = self.borrow_mut(operation)?;
        inner.settle()?;
        if inner.state != State::Device {
            return inner.own_zeros(self.len);
        }
        let mut bytes = match std::mem::replace(&mut inner.host, HostBytes::None) {
            HostBytes::Own(bytes) => bytes,
            HostBytes::None | HostBytes::Shared(_) => zeroed(self.len)?,
        };
        let placed = inner.newest();
        placed.device.read(placed.buffer, 0, &mut bytes)?;
        inner.host = HostBytes::Own(bytes);
        inner.state = State::Both;
        Ok(())
    }

    /// Gives it memory on the device, and there the newest bytes where `contents` asks for them.
    pub(crate) fn prepare(
        self: &Rc<Storage>,
        context: &Rc<Context>,
        contents: Contents,
        operation: &'static str,
    ) -> Result<BufferId> {
        let placed_here = {
            let inner = self.borrow(operation)?;
            inner.placed.as_ref().map(|placed| Rc::ptr_eq(&placed.context, context))
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

    /// Brings the bytes back to the host and gives the device's memory back.
    fn leave_device(&self, operation: &'static str) -> Result<()> {
        self.fetch(operation)?;
        let mut inner = self.borrow_mut(operation)?;
        inner.await_readers()?;
        if inner.is_shared() {
            let bytes = inner.bytes(self.len).to_vec();
            inner.host = HostBytes::Own(bytes);
        }
        inner.release_place();
        inner.state = State::Host { changed: 0..self.len };
        Ok(())
    }

    fn place(&self, context: &Rc<Context>, operation: &'static str) -> Result<()> {
        let mut inner = self.borrow_mut(operation)?;
        let device = context.device(operation)?;
        let buffer = match &self.image {
            Some(image) => device.alloc_image(image)?,
            None => device.alloc(self.len as u64, self.memory.usage())?,
        };
        if self.is_blank() {
            device.blank(buffer);
        }
        let shared = device.host_memory(buffer).filter(|memory| memory.len >= self.len);
        inner.placed = Some(Placed { context: context.clone(), device, buffer });
        let Some(memory) = shared else {
            // Fresh memory is zeros already.
            if let HostBytes::None = inner.host {
                inner.state = State::Both;
            }
            return Ok(());
        };
        let before = std::mem::replace(&mut inner.host, HostBytes::Shared(memory));
        if let HostBytes::Own(bytes) = before {
            inner.bytes_mut(self.len).copy_from_slice(&bytes);
        }
        inner.state = State::Both;
        Ok(())
    }

    fn upload(&self, contents: Contents, operation: &'static str) -> Result<BufferId> {
        let mut inner = self.borrow_mut(operation)?;
        let inner = &mut *inner;
        let placed = inner.placed.as_ref().expect("the caller placed it");
        if let State::Host { changed } = &inner.state
            && contents == Contents::Current
        {
            let bytes = host_bytes(&inner.host, self.len);
            placed.device.write(placed.buffer, changed.start as u64, &bytes[changed.clone()])?;
            inner.state = State::Both;
            if self.memory == MemoryType::Storage {
                inner.host = HostBytes::None;
            }
        }
        Ok(placed.buffer)
    }

    /// Adds the submissions that one which uses the bytes in this way has to come after.
    pub(crate) fn predecessors(&self, access: Access, after: &mut Vec<Ticket>) {
        let Ok(inner) = self.inner.try_borrow() else { return };
        let Some(placed) = &inner.placed else { return };
        let mut add = |ticket: Ticket| {
            if !placed.context.has_ended(ticket) && !after.contains(&ticket) {
                after.push(ticket);
            }
        };
        if let State::InFlight(ticket) = inner.state {
            add(ticket);
        }
        if access.writes() {
            inner.readers.iter().copied().for_each(add);
        }
    }

    /// Notes a submission that uses the bytes.
    pub(crate) fn submitted(&self, ticket: Ticket, access: Access) {
        let Ok(mut inner) = self.inner.try_borrow_mut() else { return };
        if access.writes() {
            self.blank.set(false);
            inner.state = State::InFlight(ticket);
            inner.readers.clear();
            inner.partial_reads = 0;
        } else {
            inner.readers.retain(|reader| reader.queue != ticket.queue);
            inner.readers.push(ticket);
        }
    }

    pub(crate) fn check_readable(&self, operation: &'static str) -> Result<()> {
        if self.memory == MemoryType::Storage && self.is_init() {
            return Err(ComputeError::NotReadable { what: self.label.clone(), operation });
        }
        Ok(())
    }

    fn borrow(&self, operation: &'static str) -> Result<Ref<'_, Inner>> {
        self.check_alive(operation)?;
        self.inner.try_borrow().map_err(|_| self.in_use(operation))
    }

    fn borrow_mut(&self, operation: &'static str) -> Result<RefMut<'_, Inner>> {
        self.check_alive(operation)?;
        self.inner.try_borrow_mut().map_err(|_| self.in_use(operation))
    }

    pub(crate) fn check_alive(&self, operation: &'static str) -> Result<()> {
        if self.is_init() {
            return Ok(());
        }
        Err(ComputeError::Destroyed { what: self.label.clone(), operation })
    }

    fn in_use(&self, operation: &'static str) -> ComputeError {
        ComputeError::InUse { what: self.label.clone(), operation }
    }
}

impl Inner {
    /// Waits for the submission that writes the bytes, if one does.
    fn settle(&mut self) -> Result<()> {
        let State::InFlight(ticket) = self.state else { return Ok(()) };
        let context = self.newest().context.clone();
        let outcome = context.wait(ticket, None);
        if context.has_ended(ticket) {
            self.state = if self.is_shared() { State::Both } else { State::Device };
        }
        outcome.map(drop)
    }

    fn await_readers(&mut self) -> Result<()> {
        let Some(placed) = &self.placed else { return Ok(()) };
        for reader in &self.readers {
            placed.context.wait(*reader, None)?;
        }
        self.readers.clear();
        Ok(())
    }

    /// Whether the host has the newest bytes.
    fn is_at_hand(&self) -> bool {
        matches!(self.state, State::Host { .. } | State::Both) && !matches!(self.host, HostBytes::None)
    }

    fn is_shared(&self) -> bool {
        matches!(self.host, HostBytes::Shared(_))
    }

    fn newest(&self) -> &Placed {
        self.placed.as_ref().expect("what the device has or writes is placed there")
    }

    fn host_changed(&mut self, range: Range<usize>) {
        self.state = match &self.state {
            State::Host { changed } => {
                State::Host { changed: changed.start.min(range.start)..changed.end.max(range.end) }
            }
            State::Device | State::Both | State::InFlight(_) => State::Host { changed: range },
        };
    }

    fn own_zeros(&mut self, len: usize) -> Result<()> {
        if let HostBytes::None = self.host {
            self.host = HostBytes::Own(zeroed(len)?);
        }
        Ok(())
    }

    fn bytes(&self, len: usize) -> &[u8] {
        host_bytes(&self.host, len)
    }

    /// Tells the device of bytes that the host writes in the device's own memory.
    fn tell_written(&self, range: &Range<usize>) {
        if let Some(placed) = &self.placed {
            placed.device.wrote(placed.buffer, range.start as u64..range.end as u64);
        }
    }

    fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        match &mut self.host {
            HostBytes::Own(bytes) => bytes,
            // SAFETY: as in `host_bytes`; besides, the caller waited for every submission that reads
            // the buffer, and `&mut self` keeps other looks at the bytes away.
            HostBytes::Shared(memory) => unsafe { std::slice::from_raw_parts_mut(memory.ptr, len) },
            HostBytes::None => unreachable!("bytes were fetched or zeros made before anybody writes"),
        }
    }

    fn release(&mut self) {
        self.release_place();
        self.host = HostBytes::None;
        self.readers = Vec::new();
    }

    fn release_place(&mut self) {
        let Some(placed) = self.placed.take() else { return };
        if self.is_shared() {
            self.host = HostBytes::None;
        }
        placed.device.free(placed.buffer);
    }
}

/// Zeros on the host; more than there is memory for is an error.
fn zeroed(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| ComputeError::HostMemory { bytes: len })?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn host_bytes(host: &HostBytes, len: usize) -> &[u8] {
    match host {
        HostBytes::Own(bytes) => bytes,
        // SAFETY: the memory is the buffer's, of `len` bytes or more (compared in `place`), and lives until
        // `release_place` frees the buffer and forgets the pointer; no submission writes it now, because
        // every way here first waited for the one in flight (`settle`).
        HostBytes::Shared(memory) => unsafe { std::slice::from_raw_parts(memory.ptr, len) },
        HostBytes::None => unreachable!("bytes were fetched or zeros made before anybody looks"),
    }
}

impl Dependent for Storage {
    fn end_with(&self, context: &Context) {
        let owned = std::ptr::eq(self.owner.borrow().as_ptr(), context);
        if owned {
            self.destroy();
        }
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.inner.get_mut().release();
    }
}
