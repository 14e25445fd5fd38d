//! The registers of the running frame, as instructions read and write them.
//!
//! A register is written in two stores of different widths: the tag, then the payload. Reading both in one
//! wide load stalls the processor until the stores have left its buffers, some twelve cycles. So these
//! functions read as the loop writes.

use std::mem::{MaybeUninit, forget};

use crate::value::{Cell, Value};

/// The payload of a value other than a bool is in its second eight bytes.
type RawWord = MaybeUninit<u64>;

/// The running frame's registers, by the address of the first one.
#[derive(Clone, Copy)]
pub(super) struct Registers(*mut Value);

// SAFETY (for the blocks in these methods): the creator of `Registers` guarantees that the registers in the
// code exist and are initialised, as long as its frame runs. No reference to a register is retained across
// anything that could change it.
#[expect(clippy::undocumented_unsafe_blocks, reason = "one reason, given first, holds for all blocks")]
impl Registers {
    /// # Safety
    /// A frame runs whose first register this is. It runs code that the compiler emitted, which names no
    /// register beyond the frame's.
    #[inline(always)]
    pub unsafe fn from(first: *mut Value) -> Registers {
        Registers(first)
    }

    #[inline(always)]
    pub fn pointer(self, at: u16) -> *mut Value {
        unsafe { self.0.add(at as usize) }
    }

    #[inline(always)]
    pub fn get(&self, at: u16) -> &Value {
        unsafe { &*self.pointer(at).cast_const() }
    }

    /// Moves a value out.
    #[inline(always)]
    pub fn take(self, at: u16) -> Value {
        unsafe { self.pointer(at).replace(Value::Unset) }
    }

    /// A register's value: moved if its lifetime ends, else cloned.
    #[inline(always)]
    pub fn operand(self, at: u16, ends: bool) -> Value {
        if ends { self.take(at) } else { self.get(at).clone() }
    }

    #[inline(always)]
    pub fn set(self, at: u16, value: Value) {
        let register = self.pointer(at);
        unsafe {
            if (*register).is_object() {
                *register = value;
            } else {
                register.write(value);
            }
        }
    }

    /// Copies a value from outside of the registers to a register.
    #[inline(always)]
    pub fn copy(self, at: u16, value: &Value) {
        let to = self.pointer(at);
        unsafe {
            if (*to).is_object() {
                *to = value.clone();
            } else {
                copy(value, to);
            }
        }
    }

    /// Copies the value at `from` to a register, or moves it and leaves the source empty if its lifetime
    /// ends. Register -1 is the one below the frame.
    #[inline(always)]
    pub fn assign(self, at: isize, from: *mut Value, ends: bool) {
        let to = unsafe { self.0.offset(at) };
        unsafe {
            if (*to).is_object() {
                *to = if ends { from.replace(Value::Unset) } else { (*from).clone() };
            } else if ends {
                shift(from, to);
                from.write(Value::Unset);
            } else {
                copy(from, to);
            }
        }
    }

    /// Empties the registers `first..end`.
    #[inline(always)]
    pub fn clear(self, first: usize, end: usize) {
        for at in first..end {
            let register = unsafe { self.0.add(at) };
            unsafe {
                if (*register).is_object() {
                    *register = Value::Unset;
                } else {
                    register.write(Value::Unset);
                }
            }
        }
    }

    /// The content of a register that the compiler made a cell.
    #[inline(always)]
    pub fn cell(&self, at: u16) -> &Cell {
        let Value::Cell(cell) = self.get(at) else { unreachable!("the register holds a cell") };
        cell
    }
}

/// Writes a copy of the value at `from` to `to`, whose previous value is not dropped.
///
/// # Safety
/// `from` is valid for reads and `to` for writes, and both are aligned.
#[inline(always)]
pub(super) unsafe fn copy(from: *const Value, to: *mut Value) {
    // SAFETY: the caller's guarantee. The copy of an object's bits replaces the clone that was counted and
    // forgotten.
    unsafe {
        match &*from {
            // By far the most common object that is copied; counted without a call.
            Value::Function(function) => forget(function.clone()),
            value if value.is_object() => forget(value.clone()),
            _ => {}
        }
        shift(from, to);
    }
}

/// Writes the bits of the value at `from` to `to`, whose previous value is not dropped.
///
/// # Safety
/// As [`copy`]; and only one of the two values may be used afterwards if it is an object.
#[inline(always)]
pub(super) unsafe fn shift(from: *const Value, to: *mut Value) {
    // SAFETY: the caller's promise; `Value` is `repr(u8)`, so its first byte is the tag, and no variant
    // but `Bool` has bytes between the tag and the second eight.
    unsafe {
        if let Value::Bool(truth) = *from {
            to.write(Value::Bool(truth));
        } else {
            to.cast::<u8>().write(from.cast::<u8>().read());
            to.cast::<RawWord>().add(1).write(from.cast::<RawWord>().add(1).read());
        }
    }
}
