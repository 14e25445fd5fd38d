//! Staging memory: a few host-visible pieces for copies to and from device memory.

use super::memory::{Buffer, Memory};
use crate::host::{self, MAX_THREADS};
use crate::{HostMemory, MemoryUsage, Result};

/// Size of a piece, large enough that the cost of a submission is small compared with the copy.
pub(super) const PIECE: usize = 4 << 20;
/// Of a piece, so that a GPU copies at full speed.
const ALIGNMENT: usize = 4096;
/// So many pieces are copied by the device at a time: it is much faster than one thread.
pub(super) const AHEAD: usize = 2;
/// A piece for each thread, and those of the device.
pub(super) const N_PIECES: usize = MAX_THREADS + AHEAD;

#[derive(Default)]
pub(super) struct Staging {
    pieces: [Option<Piece>; N_PIECES],
    /// The last piece that was returned.
    last: usize,
}

pub(super) struct Piece {
    pub buffer: Buffer,
    /// Of its first byte in the buffer.
    pub offset: u64,
    pub ptr: *mut u8,
    /// The last submission of the first queue that names it.
    pub last: u64,
    // ORDER: the buffer is destroyed before the memory that it imports.
    _memory: Option<Vec<u8>>,
}

impl Piece {
    /// A piece in memory of kps's own, which NVIDIA's driver pins ten times as fast as it allocates its own.
    fn imported(memory: &Memory) -> Option<Piece> {
        let mut bytes = host::zeroed(PIECE + ALIGNMENT)?;
        let skip = bytes.as_ptr().align_offset(ALIGNMENT);
        let ptr = bytes[skip..].as_mut_ptr();
        // SAFETY: the piece owns the bytes longer than the buffer. The copies of `transfer` alternate with its
        // own accesses.
        let (buffer, offset) = unsafe { memory.import(HostMemory { ptr, len: PIECE }) }?;
        Some(Piece { buffer, offset, ptr, last: 0, _memory: Some(bytes) })
    }

    fn allocated(memory: &Memory) -> Result<Piece> {
        let buffer = memory.create(PIECE as u64, MemoryUsage::Host)?;
        let mapped = buffer.mapped.expect("memory of the host is mapped");
        Ok(Piece { buffer, offset: 0, ptr: mapped.ptr, last: 0, _memory: None })
    }
}

impl Staging {
    /// The piece whose turn is next. It may still be in use.
    pub fn next(&mut self) -> usize {
        self.last = (self.last + 1) % N_PIECES;
        self.last
    }

    /// The last submission that names a piece; 0 if there is none.
    pub fn last_use(&self, index: usize) -> u64 {
        self.pieces[index].as_ref().map_or(0, |piece| piece.last)
    }

    /// Allocates a piece if it is not there yet.
    pub fn allocate(&mut self, index: usize, memory: &Memory) -> Result<()> {
        if self.pieces[index].is_none() {
            self.pieces[index] = Some(match Piece::imported(memory) {
                Some(piece) => piece,
                None => Piece::allocated(memory)?,
            });
        }
        Ok(())
    }

    pub fn piece(&mut self, index: usize) -> &mut Piece {
        self.pieces[index].as_mut().expect("a piece is used after it was made to fit")
    }

    /// The device must be idle.
    pub fn destroy(&mut self, memory: &Memory) {
        let pieces = self.pieces.iter_mut().filter_map(Option::take);
        pieces.for_each(|piece| memory.destroy_now(piece.buffer));
    }
}
