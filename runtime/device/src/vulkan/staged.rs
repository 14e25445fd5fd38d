//! Copies between the host and memory that it cannot access, through the pieces of staging memory.
//!
//! Threads copy between the host's bytes and some pieces, while the device copies to and from the others.

use std::ops::Range;

use super::hazards::{Use, host_barrier};
use super::images;
use super::staging::{AHEAD, N_PIECES, PIECE};
use super::state::State;
use super::transfer::QUEUE;
use crate::host;
use crate::{Access, BufferId, Result};

/// A part of a transfer, and its piece.
struct Part {
    turn: usize,
    bytes: Range<usize>,
}

impl State {
    pub fn write_staged(&mut self, id: BufferId, offset: u64, bytes: &[u8]) -> Result<()> {
        let n_parts = bytes.len().div_ceil(PIECE);
        host::with_copiers(n_parts, |copiers| {
            let mut parts = Vec::with_capacity(n_parts);
            for index in 0..n_parts + copiers.n_at_once() {
                if let Some(filled) = index.checked_sub(copiers.n_at_once()) {
                    copiers.finish(filled);
                    self.start_writing(id, offset, &parts[filled])?;
                }
                if index < n_parts {
                    let part = self.part(index, bytes.len())?;
                    let piece = self.staging.piece(part.turn);
                    let from = bytes[part.bytes.clone()].as_ptr();
                    // SAFETY: the piece is idle, at least as long as the part, and mapped while it lives. The
                    // bytes are borrowed longer than the threads work.
                    unsafe { copiers.start(from, piece.ptr, part.bytes.len()) };
                    parts.push(part);
                }
            }
            Ok(())
        })
    }

    pub fn read_staged(&mut self, id: BufferId, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let n_parts = bytes.len().div_ceil(PIECE);
        let (n_bytes, to) = (bytes.len(), bytes.as_mut_ptr());
        host::with_copiers(n_parts, |copiers| {
            let mut parts = Vec::with_capacity(n_parts);
            for index in 0..n_parts + AHEAD {
                if index < n_parts {
                    // The threads have emptied the piece.
                    if let Some(before) = index.checked_sub(N_PIECES) {
                        copiers.finish(before);
                    }
                    let part = self.part(index, n_bytes)?;
                    self.start_reading(id, offset, &part)?;
                    parts.push(part);
                }
                if let Some(part) = index.checked_sub(AHEAD).and_then(|index| parts.get(index)) {
                    let piece = self.staging.piece(part.turn);
                    let (last, from) = (piece.last, piece.ptr);
                    self.queues[QUEUE].wait(last, None, &self.interrupt)?;
                    // SAFETY: the copy into the piece has ended, and the piece is at least as long as the part.
                    // The bytes are borrowed longer than the threads work, and each part is copied once.
                    unsafe { copiers.start(from, to.add(part.bytes.start), part.bytes.len()) };
                }
            }
            Ok(())
        })
    }

    /// A part of a transfer of `n_bytes` with a piece that no submission uses.
    fn part(&mut self, index: usize, n_bytes: usize) -> Result<Part> {
        let turn = self.staging.next();
        self.queues[QUEUE].wait(self.staging.last_use(turn), None, &self.interrupt)?;
        self.staging.allocate(turn, &self.memory)?;
        let start = index * PIECE;
        Ok(Part { turn, bytes: start..n_bytes.min(start + PIECE) })
    }

    fn start_writing(&mut self, id: BufferId, offset: u64, part: &Part) -> Result<()> {
        let piece = self.staging.piece(part.turn);
        let (from, from_offset) = (piece.buffer.place, piece.offset);
        let to = self.buffers.get(id)?.buffer.place;
        let (at, n_bytes) = (offset + part.bytes.start as u64, part.bytes.len() as u64);
        let written = Use { buffer: id, bytes: at..at + n_bytes, access: Access::Write };
        let value = self.transfer(&[written], |device, commands| {
            images::copy(device, commands, (&from, from_offset), (&to, at), n_bytes);
        })?;
        self.staging.piece(part.turn).last = value;
        // The device copies a full piece while the host fills the next one; less can wait for other commands.
        match part.bytes.len() {
            PIECE => self.queues[QUEUE].flush(),
            _ => Ok(()),
        }
    }

    fn start_reading(&mut self, id: BufferId, offset: u64, part: &Part) -> Result<()> {
        let piece = self.staging.piece(part.turn);
        let (to, to_offset) = (piece.buffer.place, piece.offset);
        let from = self.buffers.get(id)?.buffer.place;
        let (at, n_bytes) = (offset + part.bytes.start as u64, part.bytes.len() as u64);
        let read = Use { buffer: id, bytes: at..at + n_bytes, access: Access::Read };
        let value = self.transfer(&[read], |device, commands| {
            images::copy(device, commands, (&from, at), (&to, to_offset), n_bytes);
            host_barrier(device, commands);
        })?;
        self.staging.piece(part.turn).last = value;
        self.queues[QUEUE].flush()
    }
}
