//! The host side and the device side of a storage, and which of them has the newest bytes.
//!
//! This file waits for submissions and accesses memory; `storage` decides when.

use std::ops::Range;
use std::rc::Rc;

use kps_device::{BufferId, Device, HostMemory, Ticket};

use crate::context::Context;
use crate::error::Result;
use crate::host_memory::Taken;
use crate::memory::Counted;
use crate::owned::{Old, Owned};
use crate::written::Written;

pub struct Sides {
    pub state: State,
    pub host: HostBytes,
    pub placed: Option<Placed>,
    /// The last submission of each queue that the next writer must follow.
    pub readers: Vec<Ticket>,
    pub partial_reads: u32,
}

/// Which side has the newest bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The host; `changed` are the bytes in which it differs from the device's.
    Host { changed: Range<usize> },
    /// The device has newer bytes.
    Device,
    /// Both have the newest bytes.
    Both,
    /// A submission is writing the device's bytes.
    InFlight(Ticket),
}

pub enum HostBytes {
    /// Zeros, or bytes older than the device's; they take no memory.
    None,
    Own(Owned),
    /// The device's own memory.
    Shared(HostMemory),
}

pub struct Placed {
    pub context: Rc<Context>,
    /// A second reference beside the context's: the memory must outlive the manager while it is being read.
    pub device: Rc<dyn Device>,
    pub buffer: BufferId,
    pub is_image: bool,
    pub _taken: Taken,
    pub _counted: Counted,
}

impl Sides {
    /// Waits for the submission that writes the bytes, if there is one.
    pub fn await_writer(&mut self) -> Result<()> {
        let State::InFlight(ticket) = self.state else { return Ok(()) };
        let context = self.newest().context.clone();
        let waited = context.wait(ticket, None);
        if context.has_ended(ticket) {
            self.state = if self.is_shared() { State::Both } else { State::Device };
        }
        waited.map(drop)
    }

    pub fn await_readers(&mut self) -> Result<()> {
        let Some(placed) = &self.placed else { return Ok(()) };
        for reader in &self.readers {
            placed.context.wait(*reader, None)?;
        }
        self.readers.clear();
        Ok(())
    }

    /// Whether the host has the newest bytes.
    pub fn is_at_hand(&self) -> bool {
        matches!(self.state, State::Host { .. } | State::Both) && !matches!(self.host, HostBytes::None)
    }

    pub fn is_shared(&self) -> bool {
        matches!(self.host, HostBytes::Shared(_))
    }

    pub fn newest(&self) -> &Placed {
        self.placed.as_ref().expect("what the device has or writes is placed there")
    }

    pub fn host_changed(&mut self, range: Range<usize>) {
        self.state = match &self.state {
            State::Host { changed } => {
                State::Host { changed: changed.start.min(range.start)..changed.end.max(range.end) }
            }
            State::Device | State::Both | State::InFlight(_) => State::Host { changed: range },
        };
    }

    pub fn own_zeros(&mut self, len: usize) -> Result<()> {
        if let HostBytes::None = self.host {
            self.host = HostBytes::Own(Owned::zeroed(len)?);
        }
        Ok(())
    }

    pub fn bytes(&self, len: usize) -> &[u8] {
        host_bytes(&self.host, len)
    }

    /// Passes the uninitialised bytes of a new buffer to the device.
    pub fn mark_blank(&self, written: &Written, len: usize) {
        if *written != Written::All {
            let Placed { device, buffer, .. } = self.newest();
            device.blank(*buffer);
            self.mark_written(written, 0..len);
        }
    }

    /// Passes the bytes of a range that the host writes in shared memory to the device.
    pub fn mark_written(&self, written: &Written, range: Range<usize>) {
        let Some(Placed { device, buffer, .. }) = &self.placed else { return };
        written.each_run(range, |bytes| device.wrote(*buffer, bytes.start as u64..bytes.end as u64));
    }

    /// The bytes for writing.
    pub fn bytes_mut(&mut self, len: usize, old: Old) -> Result<&mut [u8]> {
        match &mut self.host {
            HostBytes::Own(own) => own.bytes_mut(old),
            // SAFETY: as in `host_bytes`. The caller also waited for every submission that reads the buffer,
            // and `&mut self` excludes other references to the bytes.
            HostBytes::Shared(memory) => Ok(unsafe { std::slice::from_raw_parts_mut(memory.ptr, len) }),
            HostBytes::None => unreachable!("bytes were fetched or zeros made before anybody writes"),
        }
    }

    pub fn release(&mut self) {
        self.release_place();
        self.host = HostBytes::None;
        self.readers = Vec::new();
    }

    pub fn release_place(&mut self) {
        let Some(placed) = self.placed.take() else { return };
        match &mut self.host {
            HostBytes::Shared(_) => self.host = HostBytes::None,
            HostBytes::Own(own) => own.unpin(),
            HostBytes::None => {}
        }
        placed.device.free(placed.buffer);
    }
}

pub fn host_bytes(host: &HostBytes, len: usize) -> &[u8] {
    match host {
        HostBytes::Own(own) => own.bytes(),
        // SAFETY: the memory is the buffer's, of `len` bytes or more (compared in `place`). It lives until
        // `release_place` frees the buffer and drops the pointer. No submission writes it now, because every
        // caller waited for the one in flight (`await_writer`).
        HostBytes::Shared(memory) => unsafe { std::slice::from_raw_parts(memory.ptr, len) },
        HostBytes::None => unreachable!("bytes were fetched or zeros made before anybody looks"),
    }
}
