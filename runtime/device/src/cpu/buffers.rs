//! Memory of buffers and images: plain memory of the host, zeroed, aligned to a cache line.
//!
//! A submission owns a reference to the memory of each buffer that it names, so that freeing a buffer takes
//! effect when the submission has ended.

use std::alloc::{self, Layout};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::emit::context::Slot;
use super::errors;
use super::images::ImageView;
use super::info::NAME;
use super::instrumentation::Written;
use crate::host::prefer_large_pages;
use crate::last_use::LastUse;
use crate::{
    Access, Binding, BufferId, DeviceError, DeviceMemory, HostMemory, ImageInfo, Limit, Result, Ticket, log,
};

const ALIGN: usize = 64;
/// Atomic operations on narrow elements read and write whole words.
const WORD: usize = 4;
/// Texels along one axis: samplers address each of them by a 32-bit float.
const MAX_IMAGE_SIDE: u32 = 1 << 24;

pub struct Buffers {
    all: FxHashMap<BufferId, Buffer>,
    last: u64,
    /// The bytes of all buffers.
    used: u64,
    /// The most bytes that they may have.
    limit: Option<u64>,
    /// The memory of the machine.
    total: u64,
}

struct Buffer {
    memory: Arc<Memory>,
    base: NonNull<u8>,
    size: usize,
    /// For an image: its size and format.
    image: Option<ImageInfo>,
    /// The bytes that were written; `None` where the whole buffer is initialised.
    written: Option<Written>,
    /// For each queue, the submissions that name it, apart from those that ended in `submit`.
    last: Vec<LastUse>,
}

/// The allocation of a buffer.
pub struct Memory {
    /// What the allocator returned. The buffer begins at its first multiple of [`ALIGN`].
    allocation: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it only owns the allocation. Threads access the bytes as their submissions are ordered.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Buffers {
    pub fn new(limit: Option<u64>, total: u64) -> Buffers {
        Buffers { all: FxHashMap::default(), last: 0, used: 0, limit, total }
    }

    pub fn usage(&self) -> DeviceMemory {
        let budget = self.limit.map_or(self.total, |limit| limit.min(self.total));
        DeviceMemory { used: self.used, reserved: self.used, budget }
    }

    pub fn alloc(&mut self, size: u64) -> Result<BufferId> {
        if size == 0 {
            return Err(errors::bad_command("a buffer has at least one byte, 0 were asked for"));
        }
        let is_allowed = self.limit.is_none_or(|limit| size <= limit.saturating_sub(self.used));
        let fitting = usize::try_from(size).ok().filter(|_| is_allowed);
        let buffer = fitting.and_then(Buffer::new).ok_or_else(|| {
            let memory = self.usage();
            let (device, free, limit) = (NAME.to_owned(), memory.free(), memory.budget);
            DeviceError::OutOfMemory { device, requested: size, free, limit }
        })?;
        self.used += size;
        log::allocated(NAME, size);
        self.last += 1;
        let id = BufferId(self.last);
        self.all.insert(id, buffer);
        Ok(id)
    }

    /// The bytes of an image are its texels, in order.
    pub fn alloc_image(&mut self, info: &ImageInfo) -> Result<BufferId> {
        if let Some(&side) = info.size.iter().find(|&&side| side > MAX_IMAGE_SIDE) {
            let (asked, limit, device) = (u64::from(side), u64::from(MAX_IMAGE_SIDE), NAME.to_owned());
            return Err(DeviceError::LimitExceeded {
                what: Limit::Other("a side of an image"),
                asked,
                limit,
                device,
            });
        }
        let size =
            info.size.iter().try_fold(u64::from(info.format.size()), |n, &side| n.checked_mul(side.into()));
        let id = self.alloc(size.unwrap_or(u64::MAX))?;
        self.all.get_mut(&id).expect("it was just made").image = Some(*info);
        Ok(id)
    }

    /// Marks the whole buffer as uninitialised.
    pub fn blank(&mut self, id: BufferId) {
        if let Some(buffer) = self.all.get_mut(&id) {
            buffer.written = Some(Written::nothing(buffer.size));
        }
    }

    /// Marks bytes of a buffer as written.
    pub fn wrote(&mut self, id: BufferId, bytes: Range<u64>) {
        let Some(buffer) = self.all.get_mut(&id) else { return };
        if bytes.start == 0 && bytes.end >= buffer.size as u64 {
            buffer.written = None;
        } else if let Some(written) = &buffer.written {
            written.note(bytes);
        }
    }

    /// Copies between buffers also copy which bytes are initialised: the marks of the source, if it has any,
    /// and those of the target. `None` if all bytes of both are initialised.
    pub fn marks(
        &mut self,
        from: (BufferId, u64),
        to: (BufferId, u64),
    ) -> Option<(Option<Written>, Written)> {
        let source = self.all.get(&from.0).and_then(|buffer| buffer.written.clone());
        let source = source.map(|written| written.from(from.1));
        let buffer = self.all.get_mut(&to.0)?;
        if source.is_some() {
            buffer.written.get_or_insert_with(|| Written::all(buffer.size));
        }
        let target = buffer.written.as_ref()?.from(to.1);
        Some((source, target))
    }

    /// The memory of a buffer, for the submissions that name it.
    pub fn memory(&self, id: BufferId) -> Option<&Arc<Memory>> {
        self.all.get(&id).map(|buffer| &buffer.memory)
    }

    /// The memory of every buffer, for code that uses physical addresses.
    pub fn all_memory(&self) -> impl Iterator<Item = &Arc<Memory>> {
        self.all.values().map(|buffer| &buffer.memory)
    }

    /// Records that a submission names a buffer.
    pub fn note_use(&mut self, id: BufferId, submission: Ticket, access: Access) {
        let Some(buffer) = self.all.get_mut(&id) else { return };
        let queue = submission.queue as usize;
        if buffer.last.len() <= queue {
            buffer.last.resize(queue + 1, LastUse::default());
        }
        buffer.last[queue].note(submission.value, access);
    }

    /// The submissions that have to end before a buffer is used in this way, with their queues.
    pub fn before(&self, id: BufferId, access: Access) -> impl Iterator<Item = (usize, u64)> {
        let last = self.all.get(&id).map_or(&[][..], |buffer| &buffer.last);
        last.iter().map(move |last| last.before(access)).enumerate().filter(|(_, submission)| *submission > 0)
    }

    /// The bytes of a bound range that were written; `None` where all were.
    pub fn written(&mut self, binding: &Binding) -> Option<Written> {
        let buffer = self.all.get_mut(&binding.buffer)?;
        buffer.written = buffer.written.take().filter(|written| !written.is_whole());
        buffer.written.as_ref().map(|written| written.from(binding.offset))
    }

    /// The image with this id; `None` where it is a buffer.
    pub fn image(&self, id: BufferId) -> Option<&ImageInfo> {
        self.all.get(&id)?.image.as_ref()
    }

    pub fn free(&mut self, id: BufferId) {
        if let Some(buffer) = self.all.remove(&id) {
            self.used -= buffer.size as u64;
        }
    }

    pub fn host_memory(&self, id: BufferId) -> Option<HostMemory> {
        self.all.get(&id).map(|buffer| HostMemory { ptr: buffer.base.as_ptr(), len: buffer.size })
    }

    /// All buffers, rounded up to whole words, in the order of their addresses.
    pub fn ranges(&self) -> Vec<Slot> {
        let size = |buffer: &Buffer| buffer.size.next_multiple_of(WORD) as u64;
        let slot = |buffer: &Buffer| Slot { base: buffer.base.as_ptr(), size: size(buffer) };
        let mut ranges: Vec<Slot> = self.all.values().map(slot).collect();
        ranges.sort_by_key(|range| range.base);
        ranges
    }

    /// An image as compiled code sees it.
    pub fn view(&self, id: BufferId) -> Result<ImageView> {
        let buffer = self.all.get(&id).ok_or(DeviceError::UnknownId { kind: "buffer" })?;
        let image =
            buffer.image.ok_or_else(|| errors::bad_command("a buffer is bound where an image is wanted"))?;
        // SAFETY: the buffer is as large as the image's texels, and lives while a submission runs.
        Ok(unsafe { ImageView::new(buffer.base.as_ptr(), image) })
    }

    /// Bytes `offset .. offset + size` of a buffer, if they are in range.
    pub fn range(&self, id: BufferId, offset: u64, size: u64) -> Result<Slot> {
        let buffer = self.all.get(&id).ok_or(DeviceError::UnknownId { kind: "buffer" })?;
        let len = buffer.size as u64;
        if offset.checked_add(size).is_none_or(|end| end > len) {
            return Err(errors::bad_command(format!(
                "bytes {offset} to {} are outside of a buffer of {len} bytes",
                offset.saturating_add(size)
            )));
        }
        // SAFETY: `offset` is at most the buffer's size, which is within the allocation.
        let base = unsafe { buffer.base.as_ptr().add(offset as usize) };
        Ok(Slot { base, size })
    }

    pub fn bound(&self, binding: &Binding) -> Result<Slot> {
        if !binding.offset.is_multiple_of(super::info::OFFSET_ALIGNMENT) {
            return Err(errors::bad_command(format!(
                "the offset of set {} binding {} is {}, it must be a multiple of {}",
                binding.set,
                binding.binding,
                binding.offset,
                super::info::OFFSET_ALIGNMENT
            )));
        }
        self.range(binding.buffer, binding.offset, binding.size)
    }
}

impl Buffer {
    fn new(size: usize) -> Option<Buffer> {
        // Asking the allocator for the alignment would make it clear fresh pages, which are zero anyway.
        let whole = size.checked_next_multiple_of(WORD)?.checked_add(ALIGN)?;
        let layout = Layout::from_size_align(whole, 16).ok()?;
        // SAFETY: the layout's size is not zero.
        let allocation = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        let memory = Arc::new(Memory { allocation, layout });
        prefer_large_pages(allocation.as_ptr(), whole);
        let skip = allocation.align_offset(ALIGN);
        // SAFETY: the allocation has `ALIGN` bytes more than the buffer's words, and `skip` is below that.
        let base = unsafe { allocation.add(skip) };
        Some(Buffer { memory, base, size, image: None, written: None, last: Vec::new() })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `Buffer::new` with this layout. No running code can still use it: every
        // submission that names the buffer owns a reference.
        unsafe { alloc::dealloc(self.allocation.as_ptr(), self.layout) };
    }
}
