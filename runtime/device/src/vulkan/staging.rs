//! Staging memory: a few host-visible pieces for copies to and from device memory.

use super::memory::{Buffer, Memory};
use crate::{MemoryUsage, Result};

/// Size of a piece, large enough that the cost of a submission is small compared with the copy.
pub(super) const PIECE: usize = 4 << 20;
/// While the device copies one piece, the host fills or empties another.
pub(super) const N_PIECES: usize = 4;

#[derive(Default)]
pub(super) struct Staging {
    pieces: Vec<Piece>,
    /// The last piece that was returned.
    last: usize,
}

pub(super) struct Piece {
    pub buffer: Buffer,
    pub ptr: *mut u8,
    /// The last submission of the first queue that names it.
    pub last: u64,
}

impl Staging {
    /// The next piece in turn, which may still be in use.
    pub fn next(&mut self, memory: &Memory) -> Result<usize> {
        if self.pieces.len() < N_PIECES {
            let buffer = memory.create(PIECE as u64, MemoryUsage::Host)?;
            let mapped = buffer.mapped.expect("memory of the host is mapped");
            self.pieces.push(Piece { ptr: mapped.ptr, buffer, last: 0 });
            self.last = self.pieces.len() - 1;
        } else {
            self.last = (self.last + 1) % N_PIECES;
        }
        Ok(self.last)
    }

    pub fn piece(&mut self, index: usize) -> &mut Piece {
        &mut self.pieces[index]
    }

    /// The device must be idle.
    pub fn destroy(&mut self, memory: &Memory) {
        self.pieces.drain(..).for_each(|piece| memory.destroy(piece.buffer));
    }
}
