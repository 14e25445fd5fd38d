//! Operands of loops: elements in a row, one element for all, or elements at strides, read chunk by chunk.
//!
//! A chunk that lies in a row in the wanted type is borrowed. Others are copied to a small buffer, so that an
//! operand is never converted or broadcast as a whole.

use std::ops::Range;

use kps_compute::DType;

use super::places::{Filled, Places, append, build, empty, extend};
use super::{cast, repeated, with_size};
use crate::modules::numpy::layout::Layout;
use crate::value::Result;

/// Elements that loops work on at a time: with all operands, they stay in the processor's cache.
pub const CHUNK: usize = 1024;

/// The elements of an operand, in the order of their indices.
pub struct Source<'a> {
    bytes: &'a [u8],
    dtype: DType,
    /// The type as which they are read.
    wanted: DType,
    form: Form,
}

enum Form {
    /// Side by side, from the first byte on.
    Row,
    /// The first one for all indices.
    One,
    Strided(Strides),
}

impl<'a> Source<'a> {
    /// A row of elements; a single one is broadcast.
    pub fn row(bytes: &'a [u8], dtype: DType) -> Source<'a> {
        let form = if bytes.len() == dtype.size() { Form::One } else { Form::Row };
        Source { bytes, dtype, wanted: dtype, form }
    }

    /// The elements of a layout, which is not empty.
    pub fn strided(bytes: &'a [u8], dtype: DType, layout: &Layout) -> Source<'a> {
        let strides = Strides::new(layout, dtype.size());
        let from_offset = &bytes[layout.offset..];
        match strides.inner {
            Axis { len: 1, .. } | Axis { stride: 0, .. } if strides.outer.is_empty() => {
                Source::row(&from_offset[..dtype.size()], dtype)
            }
            Axis { len, stride } if strides.outer.is_empty() && stride == dtype.size() as isize => {
                Source::row(&from_offset[..len * dtype.size()], dtype)
            }
            _ => Source { bytes, dtype, wanted: dtype, form: Form::Strided(strides) },
        }
    }

    /// The same elements, read as another type. That they were to be read as one before does not matter: the smaller
    /// one would hold their values.
    pub fn cast(self, wanted: DType) -> Source<'a> {
        Source { wanted, ..self }
    }

    pub fn reader(&self) -> Reader<'_> {
        Reader { source: self, gathered: Vec::new(), converted: Vec::new() }
    }

    /// All `n` elements as a row.
    pub fn to_row(&self, n: usize) -> Result<Vec<u8>> {
        let mut row = empty(n * self.wanted.size())?;
        self.append_to(n, &mut row)?;
        Ok(row)
    }

    /// Appends all `n` elements to a row.
    pub fn append_to(&self, n: usize, row: &mut Vec<u8>) -> Result<()> {
        let Source { bytes, dtype, wanted, form } = self;
        let size = dtype.size();
        extend(row, n, wanted.size(), |range, places| match form {
            Form::Row => cast::convert(&bytes[range.start * size..range.end * size], *dtype, *wanted, places),
            Form::Strided(strides) if dtype == wanted => strides.gather(bytes, size, range, places),
            _ => each_chunk([self], range, wanted.size(), places, |[row], places| places.copy(row)),
        })
    }
}

/// A row of `n` elements of a size, each computed from the elements of all sources that have its index.
pub fn map<const K: usize>(
    sources: [&Source; K],
    n: usize,
    size: usize,
    func: impl Fn([&[u8]; K], Places<'_>) -> Filled + Sync,
) -> Result<Vec<u8>> {
    build(n, size, |range, places| each_chunk(sources, range, size, places, &func))
}

fn each_chunk<const K: usize>(
    sources: [&Source; K],
    range: Range<usize>,
    size: usize,
    places: Places<'_>,
    func: impl Fn([&[u8]; K], Places<'_>) -> Filled,
) -> Filled {
    let mut readers = sources.map(Source::reader);
    places.in_pieces(chunks(range, size), |chunk, places| {
        func(readers.each_mut().map(|reader| reader.chunk(chunk.clone())), places)
    })
}

/// The chunks of a range of indices, each with the bytes of its results.
fn chunks(range: Range<usize>, size: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    range.clone().step_by(CHUNK).map(move |from| {
        let chunk = from..range.end.min(from + CHUNK);
        (chunk.len() * size, chunk)
    })
}

/// Reads chunks of a source, each of at most [`CHUNK`] elements.
pub struct Reader<'s> {
    source: &'s Source<'s>,
    gathered: Vec<u8>,
    converted: Vec<u8>,
}

impl Reader<'_> {
    /// The elements with these indices.
    pub fn chunk(&mut self, range: Range<usize>) -> &[u8] {
        let Source { bytes, dtype, wanted, form } = self.source;
        let (size, n) = (dtype.size(), range.len());
        let chunk = match form {
            Form::Row => &bytes[range.start * size..range.end * size],
            Form::One => {
                if self.converted.len() < n * wanted.size() {
                    let mut element = Vec::new();
                    convert(bytes, *dtype, *wanted, &mut element);
                    self.converted.clear();
                    append(&mut self.converted, n * wanted.size(), |places| repeated(&element, places));
                }
                return &self.converted[..n * wanted.size()];
            }
            Form::Strided(strides) => match strides.row(range.clone(), size) {
                Some(bytes_of_row) => &bytes[bytes_of_row],
                None => {
                    self.gathered.clear();
                    append(&mut self.gathered, n * size, |places| strides.gather(bytes, size, range, places));
                    &self.gathered
                }
            },
        };
        if dtype == wanted {
            return chunk;
        }
        convert(chunk, *dtype, *wanted, &mut self.converted);
        &self.converted
    }
}

fn convert(row: &[u8], from: DType, to: DType, converted: &mut Vec<u8>) {
    converted.clear();
    append(converted, row.len() / from.size() * to.size(), |places| cast::convert(row, from, to, places));
}

/// A layout in bytes, with as few axes as its elements allow.
struct Strides {
    offset: usize,
    outer: Vec<Axis>,
    inner: Axis,
}

#[derive(Clone, Copy)]
struct Axis {
    len: usize,
    /// In bytes.
    stride: isize,
}

impl Strides {
    fn new(layout: &Layout, size: usize) -> Strides {
        let mut outer: Vec<Axis> = Vec::new();
        for (&len, &stride) in layout.shape.iter().zip(&layout.strides).filter(|(len, _)| **len != 1) {
            let axis = Axis { len, stride: stride * size as isize };
            match outer.last_mut() {
                Some(last) if last.stride == axis.stride * len as isize => {
                    *last = Axis { len: last.len * len, stride: axis.stride };
                }
                _ => outer.push(axis),
            }
        }
        let inner = outer.pop().unwrap_or(Axis { len: 1, stride: size as isize });
        Strides { offset: layout.offset, outer, inner }
    }

    /// The bytes of elements that are side by side, if they are.
    fn row(&self, range: Range<usize>, size: usize) -> Option<Range<usize>> {
        let (run, at) = (range.start / self.inner.len, range.start % self.inner.len);
        if self.inner.stride != size as isize || at + range.len() > self.inner.len {
            return None;
        }
        let start = self.start_of(run) + at * size;
        Some(start..start + range.len() * size)
    }

    /// The byte of the first element of a run along the inner axis.
    fn start_of(&self, mut run: usize) -> usize {
        let mut offset = self.offset;
        for axis in self.outer.iter().rev() {
            offset = offset.wrapping_add_signed((run % axis.len) as isize * axis.stride);
            run /= axis.len;
        }
        offset
    }

    /// The runs of elements with these indices: the byte of each one's first element, and their number.
    fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
        let Axis { len, stride } = self.inner;
        let (mut run, mut at) = (range.start / len, range.start % len);
        let mut rest = range.len();
        std::iter::from_fn(move || {
            let n = rest.min(len - at);
            let start = self.start_of(run).wrapping_add_signed(at as isize * stride);
            (run, at, rest) = (run + 1, 0, rest - n);
            (n > 0).then_some((start, n))
        })
    }

    /// Copies the elements with these indices.
    fn gather(&self, bytes: &[u8], size: usize, range: Range<usize>, places: Places<'_>) -> Filled {
        let runs = self.runs(range).map(|(start, n)| (n * size, (start, n)));
        with_size!(size, N => places.in_pieces(runs, |(start, n), places| {
            gather_run::<N>(bytes, start, n, self.inner.stride, places)
        }))
    }
}

/// Copies `n` elements at a stride, the first of which begins at a byte.
fn gather_run<const N: usize>(
    bytes: &[u8],
    start: usize,
    n: usize,
    stride: isize,
    places: Places<'_>,
) -> Filled {
    let span = stride.unsigned_abs() * (n - 1);
    let step = (stride.unsigned_abs() / N).max(1);
    match stride {
        0 => repeated(&bytes[start..start + N], places),
        _ if stride == N as isize => places.copy(&bytes[start..start + n * N]),
        1.. => {
            let (elements, _) = bytes[start..start + span + N].as_chunks::<N>();
            places.fill_bytes((0..n).map(|at| &elements[at * step]))
        }
        _ => {
            let (elements, _) = bytes[start - span..start + N].as_chunks::<N>();
            places.fill_bytes((0..n).map(|at| &elements[(n - 1 - at) * step]))
        }
    }
}
