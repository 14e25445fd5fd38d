//! Large buffers that were freed, kept for later ones of about the same size.
//!
//! The driver of a discrete GPU clears memory before it gives it to a process, and pins memory of the host: some
//! 40 and 300 ms a GiB. Small buffers need no such store, because the allocator takes them from larger blocks.

use std::cell::RefCell;

use super::memory::{Backing, Buffer, Memory};
use crate::{DeviceKind, MemoryUsage};

/// Smaller buffers are not kept.
const LARGE: u64 = 32 << 20;

#[derive(Default)]
pub(super) struct Spare {
    /// The last one freed at the end.
    buffers: RefCell<Vec<Buffer>>,
}

impl Spare {
    /// A kept buffer for `size` bytes, with undefined content.
    pub fn take(&self, size: u64, usage: MemoryUsage) -> Option<Buffer> {
        let mut buffers = self.buffers.borrow_mut();
        // At most an eighth is wasted.
        let fits = |buffer: &Buffer| {
            buffer.usage == usage && buffer.capacity >= size && buffer.capacity - size <= buffer.capacity / 8
        };
        let at = buffers.iter().rposition(fits)?;
        let mut buffer = buffers.remove(at);
        buffer.size = size;
        Some(buffer)
    }

    /// Bytes of the kept buffers.
    pub fn bytes(&self, usage: MemoryUsage) -> u64 {
        let buffers = self.buffers.borrow();
        buffers.iter().filter(|buffer| buffer.usage == usage).map(|buffer| buffer.capacity).sum()
    }
}

impl Memory {
    /// Keeps a freed buffer, or returns it. A quarter of the device's memory is kept at most.
    pub fn keep(&self, buffer: Buffer) -> Option<Buffer> {
        let is_slow = self.gpu.physical.info.kind == DeviceKind::Discrete || self.separate;
        let is_allocated = matches!(buffer.backing, Backing::Allocated(_)) && buffer.image().is_none();
        let most = self.gpu.physical.info.memory / 4;
        if !is_slow || !is_allocated || buffer.capacity < LARGE || buffer.capacity > most {
            return Some(buffer);
        }
        while self.spare.bytes(buffer.usage) + buffer.capacity > most {
            let oldest = self.spare.buffers.borrow_mut().remove(0);
            self.destroy_now(oldest);
        }
        self.spare.buffers.borrow_mut().push(buffer);
        None
    }

    /// Gives all kept memory back to the driver; returns whether there was any.
    pub fn trim(&self) -> bool {
        let buffers = self.spare.buffers.take();
        let were_any = !buffers.is_empty();
        buffers.into_iter().for_each(|buffer| self.destroy_now(buffer));
        were_any
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::State;
    use super::super::testing::messages_on_every_device_opened;
    use super::*;
    use crate::OpenOptions;

    const MIB: u64 = 1 << 20;

    fn on_every_device(options: OpenOptions, test: impl Fn(&mut State)) {
        assert_eq!(messages_on_every_device_opened(options, test), Vec::<String>::new());
    }

    #[test]
    fn large_buffers_are_used_again_and_are_zeros() {
        on_every_device(OpenOptions::default(), |state| {
            let first = state.alloc(40 * MIB, MemoryUsage::Device).expect("there is memory");
            state.write(first, 0, &[7; 1000]).expect("it fits");
            state.read(first, 0, &mut [0; 1000]).expect("it is there");
            let used = state.memory.report().used;
            state.free(first);
            assert_eq!(state.memory.report().used, used - 40 * MIB, "what is kept is free");
            let _other = state.alloc(20 * MIB, MemoryUsage::Device).expect("there is memory");
            assert_eq!(state.memory.spare.bytes(MemoryUsage::Device), 40 * MIB, "it is much too large");
            let again = state.alloc(38 * MIB, MemoryUsage::Device).expect("there is memory");
            assert_eq!(state.memory.spare.bytes(MemoryUsage::Device), 0);
            let mut bytes = [1; 1000];
            state.read(again, 0, &mut bytes).expect("it is there");
            assert_eq!(bytes, [0; 1000]);
        });
    }

    #[test]
    fn kept_memory_gives_way() {
        let options = OpenOptions { memory_limit: Some(100 * MIB), ..OpenOptions::default() };
        on_every_device(options, |state| {
            let first = state.alloc(60 * MIB, MemoryUsage::Device).expect("there is memory");
            state.free(first);
            let second = state.alloc(90 * MIB, MemoryUsage::Device).expect("the first gives way");
            assert!(state.alloc(60 * MIB, MemoryUsage::Device).is_err(), "the second is in use");
            state.free(second);
            assert!(state.alloc(60 * MIB, MemoryUsage::Device).is_ok());
        });
    }
}
