//! Memory limits of a host's scripts, and the MemoryError that enforces them.
//!
//! Two mechanisms enforce a limit. [`Heap`], the program's allocator, counts the allocations of the host that
//! runs on a thread. When the count passes the limit it raises a flag, and the machine raises MemoryError at
//! its next poll. That stops growth by small pieces. [`grant`] checks a large piece before it is allocated,
//! so that it raises first.
//!
//! Without [`Heap`] nothing is counted, and [`grant`] only asks whether the system has enough memory.
//!
//! `kps_compute::host_memory` counts the host memory that a driver uses for tensors.
//!
//! A count that is too high is never corrected: memory may be freed by another thread, or after the host gave
//! it away. Such a host may use less than its limit, never more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use indexmap::IndexMap;
use kps_compute::host_memory;

use crate::errors;
use crate::system_memory;
use crate::value::{Order, Raise, Result};
use crate::vm::Interrupter;

/// Smaller pieces are not checked in advance: the count covers them.
const SMALL: usize = 1 << 16;

/// Pieces of this size or more are also checked against the system's memory.
const LARGE: usize = 1 << 26;

/// A host without a limit checks the system's memory when it has allocated this much.
const FIRST_LOOK: isize = 32 << 20;

/// What a script may use beyond its limit while it handles a MemoryError: this, and an eighth of the limit.
const SLACK: isize = 16 << 20;

/// The reserve that the allocator frees when the system has no memory left.
const RESERVE: Layout = match Layout::from_size_align(16 << 20, 4096) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

static RESERVED_BLOCK: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// Bytes that the running host holds.
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    /// The count at which the flag is raised.
    static WATERMARK: Cell<isize> = const { Cell::new(isize::MAX) };
    /// The running host's flag; null outside of one.
    static FLAG: Cell<*const AtomicU8> = const { Cell::new(std::ptr::null()) };
    /// The running host's limit; 0 means not yet known.
    static LIMIT: Cell<isize> = const { Cell::new(0) };
    /// The system refused something since the host was last judged.
    static WAS_REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// The bit that the allocator sets in the flag of a host that holds too much.
pub(crate) const OVER: u8 = 0x40;

/// The system's allocator, which counts the values of the host that runs on the thread.
///
/// A program that gives scripts a [`memory_limit`](crate::HostBuilder::memory_limit) has it as its allocator:
///
/// ```
/// #[global_allocator]
/// static HEAP: kps::Heap = kps::Heap;
/// ```
pub struct Heap;

// SAFETY: every block comes from `System` and returns to it with its layout. Besides, only thread-local cells
// without destructors change, which is allowed at any time in a thread's life.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            // SAFETY: as the caller promises.
            return with_reserve(|| unsafe { System.alloc(layout) });
        }
        count(layout.size() as isize);
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let block = unsafe { System.alloc_zeroed(layout) };
        if block.is_null() {
            // SAFETY: as the caller promises.
            return with_reserve(|| unsafe { System.alloc_zeroed(layout) });
        }
        count(layout.size() as isize);
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        ALLOCATED.set(ALLOCATED.get() - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let moved = unsafe { System.realloc(block, layout, new_size) };
        if moved.is_null() {
            // SAFETY: as the caller promises; a realloc that fails leaves the block as it was.
            return with_reserve(|| unsafe { System.realloc(block, layout, new_size) });
        }
        count(new_size as isize - layout.size() as isize);
        moved
    }
}

#[inline(always)]
fn count(n_bytes: isize) {
    let allocated = ALLOCATED.get() + n_bytes;
    ALLOCATED.set(allocated);
    if allocated > WATERMARK.get() {
        raise_flag();
    }
}

#[cold]
fn raise_flag() {
    // SAFETY: the pointer is null, or that of a flag that `Metered` keeps alive until it has set the pointer back.
    if let Some(flag) = unsafe { FLAG.get().as_ref() } {
        flag.fetch_or(OVER, Ordering::Relaxed);
    }
}

/// The system has no memory left: frees the reserve, and ends the script soon.
#[cold]
fn with_reserve(again: impl FnOnce() -> *mut u8) -> *mut u8 {
    let reserved = RESERVED_BLOCK.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if reserved.is_null() {
        return reserved;
    }
    // SAFETY: `reserve_block` allocated it with this layout, and the swap removed the only reference.
    unsafe { System.dealloc(reserved, RESERVE) };
    WAS_REFUSED.set(true);
    raise_flag();
    again()
}

/// Allocates the reserve, if it is not there. Returns whether it is there now.
fn reserve_block() -> bool {
    if !RESERVED_BLOCK.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: the layout has a size.
    let block = unsafe { System.alloc(RESERVE) };
    let null = std::ptr::null_mut();
    let exchange = RESERVED_BLOCK.compare_exchange(null, block, Ordering::AcqRel, Ordering::Acquire);
    if exchange.is_err() && !block.is_null() {
        // SAFETY: it was allocated above, and this is the only reference.
        unsafe { System.dealloc(block, RESERVE) };
    }
    !block.is_null()
}

/// Whether [`Heap`] is the program's allocator.
pub(crate) fn is_counted() -> bool {
    let before = ALLOCATED.get();
    let block = std::hint::black_box(Box::new(0_u64));
    let is_counted = ALLOCATED.get() != before;
    drop(block);
    is_counted
}

/// One host's count and limit, while it does not run.
#[derive(Default)]
pub(crate) struct Meter {
    allocated: Cell<isize>,
    watermark: Cell<isize>,
    limit: Cell<isize>,
}

impl Meter {
    /// `limit` in bytes; `None` is the system's memory at the first check.
    pub fn new(limit: Option<usize>) -> Rc<Meter> {
        host_memory::bound(host_memory::Bound { grants: |n_bytes| grant(n_bytes).is_ok(), count });
        let limit = limit.map(|limit| isize::try_from(limit.max(1)).unwrap_or(isize::MAX));
        Rc::new(Meter {
            allocated: Cell::new(0),
            watermark: Cell::new(limit.unwrap_or(FIRST_LOOK)),
            limit: Cell::new(limit.unwrap_or(0)),
        })
    }

    /// Counts for this host on this thread until the result is dropped.
    pub fn start(self: &Rc<Meter>, interrupter: &Interrupter) -> Metered {
        Metered {
            meter: self.clone(),
            _flag: interrupter.clone(),
            before: (
                ALLOCATED.replace(self.allocated.get()),
                WATERMARK.replace(self.watermark.get()),
                LIMIT.replace(self.limit.get()),
                FLAG.replace(interrupter.flag()),
            ),
        }
    }
}

/// A running host: allocations on this thread count for it.
pub(crate) struct Metered {
    meter: Rc<Meter>,
    /// Keeps the target of `FLAG` alive.
    _flag: Interrupter,
    before: (isize, isize, isize, *const AtomicU8),
}

impl Drop for Metered {
    fn drop(&mut self) {
        let (allocated, watermark, limit, flag) = self.before;
        self.meter.allocated.set(ALLOCATED.replace(allocated));
        self.meter.watermark.set(WATERMARK.replace(watermark));
        self.meter.limit.set(LIMIT.replace(limit));
        FLAG.set(flag);
    }
}

/// Runs code that creates values for the embedder, which count for no host.
pub(crate) fn uncounted<T>(act: impl FnOnce() -> T) -> T {
    let (allocated, watermark) = (ALLOCATED.get(), WATERMARK.replace(isize::MAX));
    let made = act();
    ALLOCATED.set(allocated);
    WATERMARK.set(watermark);
    made
}

/// Checks a piece of memory before it is allocated: MemoryError if the host exceeds its limit, or the system
/// has too little.
#[inline]
pub fn grant(n_bytes: usize) -> Result<()> {
    if n_bytes < SMALL { Ok(()) } else { grant_large(n_bytes) }
}

/// [`grant`] for this many items of a type.
#[inline]
pub fn grant_items<T>(n: usize) -> Result<()> {
    grant(n.saturating_mul(size_of::<T>()))
}

/// Reserves capacity for one more item. Call it before a script's action pushes an item.
#[inline]
pub fn make_room<T>(items: &mut Vec<T>) -> Result<()> {
    if items.len() < items.capacity() { Ok(()) } else { make_more_room(items, 1) }
}

/// Reserves capacity for `n` more items.
pub fn make_more_room<T>(items: &mut Vec<T>, n: usize) -> Result<()> {
    if items.capacity() - items.len() >= n {
        return Ok(());
    }
    // A vector at least doubles, and has old and new items at once.
    grant_items::<T>(items.capacity().max(items.len().saturating_add(n)).saturating_mul(2))?;
    items.try_reserve(n).map_err(|_| refused())
}

/// Reserves capacity for `n` more bytes of text.
pub fn make_text_room(text: &mut String, n: usize) -> Result<()> {
    if text.capacity() - text.len() >= n {
        return Ok(());
    }
    grant(text.capacity().max(text.len().saturating_add(n)).saturating_mul(2))?;
    text.try_reserve(n).map_err(|_| refused())
}

/// Reserves capacity for one more entry of a table.
#[inline]
pub fn make_table_room<K: Hash + Eq, V, S: BuildHasher>(table: &mut IndexMap<K, V, S>) -> Result<()> {
    if table.len() < table.capacity() {
        return Ok(());
    }
    // Each entry also has a hash and a slot in the index.
    let entry = size_of::<(K, V)>() + 3 * size_of::<usize>();
    grant(table.capacity().max(4).saturating_mul(3 * entry))?;
    table.try_reserve(1).map_err(|_| refused())
}

#[cold]
fn grant_large(n_bytes: usize) -> Result<()> {
    let Ok(wanted) = isize::try_from(n_bytes) else { return Err(too_much()) };
    let after = ALLOCATED.get().saturating_add(wanted);
    let is_running = !FLAG.get().is_null();
    if is_running && after > FIRST_LOOK.min(WATERMARK.get()) && after > known_limit() {
        return Err(too_much());
    }
    if n_bytes >= LARGE && Vec::<u8>::new().try_reserve_exact(n_bytes).is_err() {
        return Err(refused());
    }
    Ok(())
}

/// The running host's limit: its own, or the system's memory at the first check.
fn known_limit() -> isize {
    if LIMIT.get() == 0 {
        let available = system_memory::available().map_or(isize::MAX, |bytes| (bytes / 10 * 9) as isize);
        LIMIT.set(ALLOCATED.get().max(0).saturating_add(available));
        let _ = reserve_block();
    }
    LIMIT.get()
}

/// Handles the raised flag: the host exceeds its limit, or has reached a mark below it.
///
/// A script that catches the error has some slack to handle it. One that exceeds the slack is ended by an
/// error that no `except` catches.
pub(crate) fn judge() -> Result<()> {
    let limit = known_limit();
    let allocated = ALLOCATED.get();
    let most = limit.saturating_add(limit / 8).saturating_add(SLACK);
    let spare = (limit / 64).max(1 << 16);
    // If the system has as much again, an error before this one has freed memory.
    if WAS_REFUSED.take() && !reserve_block() {
        return Err(too_much());
    }
    if allocated <= limit {
        WATERMARK.set(limit);
        return Ok(());
    }
    WATERMARK.set(allocated.saturating_add(spare));
    Err(if allocated > most { too_much().ordered(Order::EndNow) } else { too_much() })
}

/// The error for what the system refused, which then needs no second one.
#[cold]
fn refused() -> Raise {
    WAS_REFUSED.set(false);
    let _ = reserve_block();
    too_much()
}

fn too_much() -> Raise {
    errors::memory_error("the script asks for more memory than it may hold")
}
