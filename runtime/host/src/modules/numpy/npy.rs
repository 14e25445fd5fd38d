//! The format `.npy`: a header that is text, then the elements of an array.
//!
//! The bytes of a file go in piece by piece, and [`Contents`] come out. A type and a shape go in, and the header comes
//! out. The modules `numpy` and `kp` read and write their files through this one.
//!
//! Versions 1.0 to 3.0 of NumPy Enhancement Proposal 1. Numbers of the other byte order are converted.

use kps_array::ElementType;
use kps_compute::DType;

use super::array::NdArray;
use super::operators::check_room;
use super::print::shape_text;
use super::{dtype, errors, operand};
use crate::value::Result;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Headers are padded so that elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// Longer headers describe structs of very many fields.
const MAX_HEADER: usize = 1 << 20;

/// Appends so many bytes of a file to a buffer, or fewer at the end of the file.
pub type Source<'a> = dyn FnMut(&mut Vec<u8>, usize) -> Result<()> + 'a;

/// The array in a file.
pub struct Contents {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// The elements are in the order of Fortran: the first index changes fastest.
    pub is_fortran: bool,
    pub row: Vec<u8>,
}

impl Contents {
    /// The shape of the elements as they are in the file, the last index fastest.
    pub fn shape_in_file(&self) -> Vec<usize> {
        match self.is_fortran {
            true => self.shape.iter().rev().copied().collect(),
            false => self.shape.clone(),
        }
    }

    pub fn into_array(self) -> NdArray {
        let array = NdArray::from_row(self.dtype, &self.shape_in_file(), self.row);
        if !self.is_fortran {
            return array;
        }
        let order: Vec<usize> = (0..self.shape.len()).rev().collect();
        let layout = array.layout().permute(&order);
        array.with_layout(layout)
    }
}

/// What comes before the elements, version 1.0.
pub fn header(dtype: impl Into<ElementType>, shape: &[usize]) -> Vec<u8> {
    let code = dtype::code_of(dtype);
    let shape = shape_text(shape);
    let mut text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}");
    let n_before = MAGIC.len() + 4;
    let n_padding = (ALIGNMENT - (n_before + text.len() + 1) % ALIGNMENT) % ALIGNMENT;
    text.extend(std::iter::repeat_n(' ', n_padding));
    text.push('\n');
    let mut header = Vec::with_capacity(n_before + text.len());
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&[1, 0]);
    // A shape has at most 64 axes, so the header stays far below 64 KiB.
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

/// Reads a file from its beginning.
pub fn read(source: &mut Source) -> Result<Contents> {
    let text = read_header(source)?;
    let header = Header::parse(&text).map_err(|what| errors::bad_file(&what))?;
    let n_bytes = check_room(&header.shape, header.dtype)?;
    let mut row = Vec::new();
    source(&mut row, n_bytes)?;
    if row.len() < n_bytes {
        return Err(errors::bad_file("its elements are cut short"));
    }
    if let Some(size) = header.swapped {
        row.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    if header.dtype == DType::Bool {
        row.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Ok(Contents { dtype: header.dtype, shape: header.shape, is_fortran: header.is_fortran, row })
}

/// The text of a header.
fn read_header(source: &mut Source) -> Result<String> {
    let mut next = |n: usize| {
        let mut bytes = Vec::new();
        source(&mut bytes, n).map(|()| bytes)
    };
    let cut_short = || errors::bad_file("its header is cut short");
    let start = next(MAGIC.len() + 2)?;
    let version = start.strip_prefix(MAGIC).ok_or_else(|| errors::bad_file("it does not begin as one"))?;
    let n_len = match version.first().ok_or_else(cut_short)? {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(errors::bad_file("its version is not known")),
    };
    let mut len = [0; 4];
    let bytes = next(n_len)?;
    len[..bytes.len()].copy_from_slice(&bytes);
    let len = u32::from_le_bytes(len) as usize;
    if len > MAX_HEADER {
        return Err(errors::bad_file("its header is too long"));
    }
    let text = next(len)?;
    if text.len() < len {
        return Err(cut_short());
    }
    String::from_utf8(text).map_err(|_| errors::bad_file("its header is not text"))
}

/// The content of a header.
#[derive(Debug, PartialEq)]
struct Header {
    dtype: DType,
    shape: Vec<usize>,
    is_fortran: bool,
    /// The size of the numbers whose bytes are in the order of other processors.
    swapped: Option<usize>,
}

impl Header {
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    fn parse(text: &str) -> std::result::Result<Header, String> {
        let field = |name: &str| {
            let (_, after) = text.split_once(&format!("'{name}':"))?;
            Some(after.trim_start())
        };
        let (dtype, swapped) = element_type(field("descr").unwrap_or_default())?;
        let is_fortran = field("fortran_order").is_some_and(|after| after.starts_with("True"));
        let shape =
            field("shape").and_then(|after| after.strip_prefix('(')).and_then(|after| after.split_once(')'));
        let (shape, _) = shape.ok_or("its header names no shape")?;
        let lens = shape.split(',').map(str::trim).filter(|len| !len.is_empty());
        let shape: std::result::Result<Vec<usize>, _> = lens.map(str::parse).collect();
        let shape = shape.map_err(|_| "its shape is not one of ints")?;
        if shape.len() > operand::MAX_AXES {
            return Err("it has too many axes".to_owned());
        }
        Ok(Header { dtype, shape, is_fortran, swapped })
    }
}

/// The type that begins `text`, such as `'<f4'`, and the size of numbers whose bytes are swapped.
fn element_type(text: &str) -> std::result::Result<(DType, Option<usize>), String> {
    if text.starts_with('[') {
        return Err("its elements are structs".to_owned());
    }
    let code = text.strip_prefix('\'').and_then(|after| after.split_once('\''));
    let (code, _) = code.ok_or("its header names no element type")?;
    let is_swapped = code.starts_with('>');
    let dtype = match code.trim_start_matches(['<', '>', '=', '|']) {
        "O" => return Err("its elements are objects of Python".to_owned()),
        // NumPy has no name for it, and writes raw bytes.
        "V2" => DType::Bf16,
        name => dtype::parse(name)
            .and_then(ElementType::real)
            .ok_or_else(|| format!("no number has its element type `{code}`"))?,
    };
    Ok((dtype, is_swapped.then_some(dtype.size())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(file: &[u8]) -> Option<String> {
        let mut rest = file;
        let mut source = |bytes: &mut Vec<u8>, n: usize| {
            let (now, later) = rest.split_at(n.min(rest.len()));
            bytes.extend_from_slice(now);
            rest = later;
            Ok(())
        };
        read_header(&mut source).ok()
    }

    #[test]
    fn a_header_is_read_back() {
        let file = header(DType::F32, &[2, 3]);
        assert_eq!(file.len() % ALIGNMENT, 0);
        let expect = Header { dtype: DType::F32, shape: vec![2, 3], is_fortran: false, swapped: None };
        assert_eq!(Header::parse(&text_of(&file).expect("it is whole")), Ok(expect));
        assert_eq!(text_of(b"PK"), None);
        assert_eq!(text_of(&file[..20]), None);
    }
}
