//! Bytes of the host that are not a device's memory.
//!
//! Arrays and tensors share them until one of them writes, so that a tensor of an array costs no copy. If they
//! travel to a device again and again, their pages are pinned, and the device copies them itself.

use std::ops::Range;
use std::rc::Rc;

use kps_device::{BufferId, Command, Commands, Device, HostMemory, Imported, QueueId, Ticket, host};

use crate::context::Context;
use crate::error::{ComputeError, Result};
use crate::host_memory;
use crate::log::Level;
use crate::sides::Placed;

/// Fewer bytes are copied faster by the host.
const PINNED_SIZE: usize = 1 << 20;
/// Pinning costs about as much as this number of transfers through staging.
const TRANSFERS_BEFORE_PINNING: u32 = 2;

/// An H200 writes 52 GB/s to the host at multiples of 128 bytes, and 35 at others.
const FAST_ALIGNMENT: u64 = 256;

/// What becomes of the values before a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Kept,
    /// All of them are overwritten.
    Unused,
}

pub(crate) struct Owned {
    bytes: Rc<Vec<u8>>,
    pinning: Pinning,
}

enum Pinning {
    /// After this number of transfers.
    Not(u32),
    Pinned(Pinned),
    /// The device cannot do it.
    Refused,
}

/// Bytes that a device can copy.
struct Pinned {
    context: Rc<Context>,
    device: Rc<dyn Device>,
    imported: Imported,
    /// The last copy, if it may be running.
    running: Option<Ticket>,
}

impl Owned {
    pub fn new(bytes: Rc<Vec<u8>>) -> Owned {
        Owned { bytes, pinning: Pinning::Not(0) }
    }

    pub fn zeroed(len: usize) -> Result<Owned> {
        host_memory::ask(len)?;
        let bytes = host::zeroed(len).ok_or(ComputeError::HostMemory { bytes: len })?;
        Ok(Owned::new(Rc::new(bytes)))
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes for another owner.
    pub fn shared(&self) -> &Rc<Vec<u8>> {
        &self.bytes
    }

    /// The bytes for writing. If they have another owner, a copy is made first, or zeros if the old values are
    /// not used.
    pub fn bytes_mut(&mut self, old: Old) -> Result<&mut [u8]> {
        self.await_upload()?;
        if Rc::get_mut(&mut self.bytes).is_none() {
            let mut own = Owned::zeroed(self.bytes.len())?;
            if old == Old::Kept {
                host::copy(&self.bytes, own.bytes_mut(Old::Unused)?);
            }
            *self = own;
        }
        Ok(Rc::get_mut(&mut self.bytes).expect("it has no other owner"))
    }

    /// Copies a range to a buffer of the same size.
    pub fn upload(&mut self, placed: &Placed, range: Range<usize>) -> Result<()> {
        self.pin_for(placed, range.len());
        match &mut self.pinning {
            Pinning::Pinned(pinned) => pinned.upload(placed.buffer, range),
            _ => Ok(placed.device.write(placed.buffer, range.start as u64, &self.bytes[range])?),
        }
    }

    /// Copies all of a buffer of the same size, and waits for that.
    pub fn download(&mut self, placed: &Placed) -> Result<()> {
        let len = self.bytes.len();
        self.bytes_mut(Old::Unused)?;
        self.pin_for(placed, len);
        match &mut self.pinning {
            Pinning::Pinned(pinned) => pinned.download(placed.buffer, len),
            _ => {
                let bytes = self.bytes_mut(Old::Unused)?;
                Ok(placed.device.read(placed.buffer, 0, bytes)?)
            }
        }
    }

    /// Waits until the device has read the bytes.
    pub fn await_upload(&mut self) -> Result<()> {
        match &mut self.pinning {
            Pinning::Pinned(pinned) => pinned.await_copy(),
            _ => Ok(()),
        }
    }

    /// Pins the bytes for a transfer of `n` of them, if that has come to pay.
    fn pin_for(&mut self, placed: &Placed, n: usize) {
        let Pinning::Not(n_transfers) = &mut self.pinning else { return };
        // A part of an image cannot be copied.
        if placed.is_image || self.bytes.len() < PINNED_SIZE || n < self.bytes.len() / 2 {
            return;
        }
        if *n_transfers < TRANSFERS_BEFORE_PINNING {
            *n_transfers += 1;
            return;
        }
        // SAFETY: `unpin` passes an owner of the vector. `bytes_mut` waits for the running copy, and
        // `download` has no other owner read what it writes.
        self.pinning = match unsafe { Pinned::new(placed, &self.bytes) } {
            Some(pinned) => {
                let n = self.bytes.len();
                placed.context.log.event(Level::Debug, || format!("pinned {n} bytes of the host"));
                Pinning::Pinned(pinned)
            }
            None => Pinning::Refused,
        };
    }

    /// Takes the bytes from the device.
    pub fn unpin(&mut self) {
        if let Pinning::Pinned(pinned) = std::mem::replace(&mut self.pinning, Pinning::Not(0)) {
            // A copy may be running, also after a wait for it was interrupted.
            pinned.device.release(pinned.imported, Box::new(self.bytes.clone()));
        }
    }
}

impl Pinned {
    /// # Safety
    /// As for [`Device::import`].
    unsafe fn new(placed: &Placed, bytes: &[u8]) -> Option<Pinned> {
        let memory = HostMemory { ptr: bytes.as_ptr().cast_mut(), len: bytes.len() };
        // SAFETY: the caller's promise is that of this call.
        let imported = unsafe { placed.device.import(memory) }?;
        let (context, device) = (placed.context.clone(), placed.device.clone());
        Some(Pinned { context, device, imported, running: None })
    }

    fn upload(&mut self, to: BufferId, range: Range<usize>) -> Result<()> {
        let from = self.imported.buffer;
        let copies = self.parts(range).map(|(from_offset, to_offset, size)| Command::Copy {
            from,
            from_offset,
            to,
            to_offset,
            size,
        });
        self.running = Some(self.submit(copies.collect())?);
        Ok(())
    }

    fn download(&mut self, from: BufferId, len: usize) -> Result<()> {
        let to = self.imported.buffer;
        let copies = self.parts(0..len).map(|(to_offset, from_offset, size)| Command::Copy {
            from,
            from_offset,
            to,
            to_offset,
            size,
        });
        self.running = Some(self.submit(copies.collect())?);
        self.await_copy()
    }

    fn submit(&self, copies: Vec<Command>) -> Result<Ticket> {
        // A profile may have started after the memory was pinned.
        let device: Rc<dyn Device> = match self.context.observed() {
            Some(observed) => observed,
            None => self.device.clone(),
        };
        Ok(device.submit(QueueId::default(), &Commands::once(copies), &[])?)
    }

    /// The copies of a range: each has an offset in the imported memory, one in the buffer, and a size. All but the
    /// first begin at an address of the host at which a GPU copies at full speed.
    fn parts(&self, range: Range<usize>) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let (start, size) = (self.imported.offset + range.start as u64, range.len() as u64);
        let head = (start.next_multiple_of(FAST_ALIGNMENT) - start).min(size);
        let parts = [(0, head), (head, size - head)].into_iter().filter(|(_, size)| *size > 0);
        parts.map(move |(skip, size)| (start + skip, range.start as u64 + skip, size))
    }

    fn await_copy(&mut self) -> Result<()> {
        if let Some(ticket) = self.running {
            self.context.wait(ticket, None)?;
            self.running = None;
        }
        Ok(())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.unpin();
    }
}
