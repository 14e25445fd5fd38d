//! Copying and moving values between registers, for the loop that runs instructions.
//!
//! A register is written tag first, then what the value holds, in two stores of different widths. To
//! read both back in one wide load makes the processor wait until the stores have left its buffers,
//! some twelve cycles; so these functions read as the loop writes.

use std::mem::{MaybeUninit, forget};

use crate::value::Value;

/// What a value other than a bool holds lies in its second eight bytes.
type Held = MaybeUninit<u64>;

/// Writes a copy of the value at `from` to `to`, whose previous value is not dropped.
///
/// # Safety
/// `from` is valid for reads and `to` for writes, and both are aligned.
#[inline(always)]
pub(super) unsafe fn copy(from: *const Value, to: *mut Value) {
    // SAFETY: the caller's promise. The copy of an object's bits stands for the clone that was counted
    // and forgotten.
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
            to.cast::<Held>().add(1).write(from.cast::<Held>().add(1).read());
        }
    }
}
