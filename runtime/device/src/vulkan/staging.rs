//! Staging memory: a few host-visible pieces for copies to and from device memory.

use super::memory::{Buffer, Memory};
use crate::{HostMemory, MemoryUsage, Result, host};

/// Size of a piece, large enough that the cost of a submission is small compared with the copy.
const PIECE: usize = 4 << 20;
/// The same for large transfers, whose pieces several threads fill and empty.
const LARGE_PIECE: usize = 16 << 20;
/// A transfer of this size is large.
const LARGE: usize = 64 << 20;
/// Of a piece, so that a GPU copies at full speed.
const ALIGNMENT: usize = 4096;
/// While the device copies one piece, the host fills or empties another.
pub(super) const N_PIECES: usize = 4;

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
    fn imported(size: usize, memory: &Memory) -> Option<Piece> {
        let mut bytes = host::zeroed(size + ALIGNMENT)?;
        let skip = bytes.as_ptr().align_offset(ALIGNMENT);
        let ptr = bytes[skip..].as_mut_ptr();
        // SAFETY: the piece owns the bytes longer than the buffer. The copies of `transfer` alternate with its
        // own accesses.
        let (buffer, offset) = unsafe { memory.import(HostMemory { ptr, len: size }) }?;
        Some(Piece { buffer, offset, ptr, last: 0, _memory: Some(bytes) })
    }

    fn allocated(size: usize, memory: &Memory) -> Result<Piece> {
        let buffer = memory.create(size as u64, MemoryUsage::Host)?;
        let mapped = buffer.mapped.expect("memory of the host is mapped");
        Ok(Piece { buffer, offset: 0, ptr: mapped.ptr, last: 0, _memory: None })
    }
}

/// The size of the pieces for a transfer.
pub(super) fn piece_size(n_bytes: usize) -> usize {
    if n_bytes < LARGE { PIECE } else { LARGE_PIECE }
}

impl Staging {
    /// The piece whose turn is next. It may still be in use, or too small: see [`Staging::fit`].
    pub fn next(&mut self) -> usize {
        self.last = (self.last + 1) % N_PIECES;
        self.last
    }

    /// The last submission that names a piece; 0 if there is none.
    pub fn last_use(&self, index: usize) -> u64 {
        self.pieces[index].as_ref().map_or(0, |piece| piece.last)
    }

    /// Makes a piece, which is not in use, at least `size` bytes long.
    pub fn fit(&mut self, index: usize, size: usize, memory: &Memory) -> Result<()> {
        if self.pieces[index].as_ref().is_some_and(|piece| piece.buffer.size - piece.offset >= size as u64) {
            return Ok(());
        }
        if let Some(small) = self.pieces[index].take() {
            memory.destroy_now(small.buffer);
        }
        self.pieces[index] = Some(match Piece::imported(size, memory) {
            Some(piece) => piece,
            None => Piece::allocated(size, memory)?,
        });
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
