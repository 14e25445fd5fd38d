//! The register stack and its frames.
//!
//! The stack is one block that never moves, so pointers to registers stay valid while native code runs. It
//! starts zeroed, which makes every register `Unset`, and every frame leaves its registers `Unset`. So
//! everything above the top is empty. The registers of a frame after the arguments of a call are empty too:
//! they are the callee's.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::rc::Rc;

use crate::value::{Function, Generator, Value};

/// Registers in the stack: 32 MiB of address space, of which only the used part is committed.
const CAPACITY: usize = 1 << 21;

pub(crate) struct Stack(NonNull<Value>);

impl Stack {
    pub fn new() -> Stack {
        let layout = Stack::layout();
        // SAFETY: the layout has a size above zero. Zeroed memory is valid: `Value` is `repr(u8)` with
        // the tag 0 for `Unset`, which has no fields.
        let block = unsafe { alloc_zeroed(layout) };
        match NonNull::new(block.cast::<Value>()) {
            Some(block) => Stack(block),
            None => handle_alloc_error(layout),
        }
    }

    fn layout() -> Layout {
        Layout::array::<Value>(CAPACITY).expect("the stack's size is a constant that fits")
    }

    /// Whether registers up to `end` exist.
    #[inline]
    pub fn has(&self, end: usize) -> bool {
        end <= CAPACITY
    }

    /// Whether `n` registers exist from the one at `from` on, which belongs to this stack.
    #[inline(always)]
    pub fn has_room(&self, from: *const Value, n: usize) -> bool {
        self.has(self.index(from) + n)
    }

    /// The index of a register of this stack.
    #[inline(always)]
    pub fn index(&self, register: *const Value) -> usize {
        (register as usize - self.0.as_ptr() as usize) / size_of::<Value>()
    }

    /// The register with index `at`.
    #[inline(always)]
    pub fn register(&self, at: usize) -> *mut Value {
        debug_assert!(at <= CAPACITY);
        // SAFETY: callers check `has` when they push a frame, and stay within their frame.
        unsafe { self.0.as_ptr().add(at) }
    }

    /// Moves the value out of a register.
    pub fn take(&self, at: usize) -> Value {
        // SAFETY: the register exists (see `register`), and every register is initialised at all times.
        unsafe { self.register(at).replace(Value::Unset) }
    }

    pub fn put(&self, at: usize, value: Value) {
        // SAFETY: as in `take`. The previous value is dropped after the register has the new one.
        let previous = unsafe { self.register(at).replace(value) };
        drop(previous);
    }

    /// The registers `start..end` as values, for native code to read.
    ///
    /// # Safety
    /// Nothing may write to these registers while the slice is in use.
    pub unsafe fn slice<'a>(&self, start: usize, end: usize) -> &'a [Value] {
        // SAFETY: the registers exist and are initialised; the caller sees to it that they stay.
        unsafe { std::slice::from_raw_parts(self.register(start), end - start) }
    }

    /// Empties the registers `start..end`.
    pub fn clear(&self, start: usize, end: usize) {
        for at in start..end {
            drop(self.take(at));
        }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // Every frame is gone by now, so all registers are `Unset` and own nothing.
        // SAFETY: allocated with the same layout.
        unsafe { dealloc(self.0.as_ptr().cast(), Stack::layout()) }
    }
}

/// The destination of a frame's return value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// The register below the frame.
    Call,
    /// `__init__`: it must be None; the instance is in the register below the frame.
    Init,
    /// The Rust code that entered the machine.
    Entry,
    /// A step of the frame's generator, entered from Rust.
    Step,
}

pub(crate) struct Frame {
    pub function: Rc<Function>,
    /// Index of its first register.
    pub base: usize,
    /// Index of the next instruction; of the one that raised, plus one, while unwinding.
    pub pc: usize,
    pub kind: FrameKind,
    /// The generator that a `Step` runs; other frames have none.
    pub generator: Option<Rc<Generator>>,
}

/// Pushes a frame of kind `Call`. It is written field by field: a frame built beside the vector and
/// copied into it would be read back in wider pieces than it was written (see `register.rs`).
#[inline(always)]
pub(crate) fn push_call(frames: &mut Vec<Frame>, function: Rc<Function>, base: usize) {
    if frames.len() == frames.capacity() {
        frames.reserve(1);
    }
    let n_frames = frames.len();
    // SAFETY: there is room for one more frame, whose five fields are all written.
    unsafe {
        let frame = frames.as_mut_ptr().add(n_frames);
        (&raw mut (*frame).function).write(function);
        (&raw mut (*frame).base).write(base);
        (&raw mut (*frame).pc).write(0);
        (&raw mut (*frame).kind).write(FrameKind::Call);
        (&raw mut (*frame).generator).write(None);
        frames.set_len(n_frames + 1);
    }
}

/// Pops the frame on top, which is of kind `Call`, and returns its function.
#[inline(always)]
pub(crate) fn pop_call(frames: &mut Vec<Frame>) -> Rc<Function> {
    let top = frames.len() - 1;
    debug_assert!(frames[top].kind == FrameKind::Call);
    // SAFETY: the frame exists and is removed by its length. Its function moves to the caller, and nothing
    // else in a frame of this kind owns anything.
    unsafe {
        frames.set_len(top);
        (&raw const (*frames.as_ptr().add(top)).function).read()
    }
}

impl Frame {
    /// A frame that starts at its first instruction.
    #[inline(always)]
    pub fn new(function: Rc<Function>, base: usize, kind: FrameKind) -> Frame {
        Frame { function, base, pc: 0, kind, generator: None }
    }

    /// Index of the register above the last one.
    pub fn top(&self) -> usize {
        self.base + self.function.code.code.n_registers as usize
    }
}
