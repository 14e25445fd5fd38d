//! Arrays in files: `.npy`, and raw bytes.

use kps_array::ElementType;
use kps_compute::DType;

use super::array::NdArray;
use super::operand;
use super::operators::check_room;
use super::print::shape_text;
use super::{create, dtype, errors};
use crate::blocking;
use crate::builtins::file::system_error;
use crate::value::{Args, ExceptionKind, NativeDef, Raise, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("save", save),
    NativeDef::function("load", load),
    NativeDef::function("fromfile", fromfile),
];

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Headers are padded so that elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// The contents of a `.npy` file, version 1.0.
pub fn to_npy(dtype: DType, shape: &[usize], row: &[u8]) -> Vec<u8> {
    let code = dtype::code_of(dtype);
    let shape = shape_text(shape);
    let mut header = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}");
    let n_before = MAGIC.len() + 4;
    let n_padding = (ALIGNMENT - (n_before + header.len() + 1) % ALIGNMENT) % ALIGNMENT;
    header.extend(std::iter::repeat_n(' ', n_padding));
    header.push('\n');
    let mut contents = Vec::with_capacity(n_before + header.len() + row.len());
    contents.extend_from_slice(MAGIC);
    contents.extend_from_slice(&[1, 0]);
    // A shape has at most 64 axes, so the header stays far below 64 KiB.
    contents.extend_from_slice(&(header.len() as u16).to_le_bytes());
    contents.extend_from_slice(header.as_bytes());
    contents.extend_from_slice(row);
    contents
}

/// The content of a header.
#[derive(Debug, PartialEq)]
struct Header {
    dtype: DType,
    shape: Vec<usize>,
    is_fortran: bool,
    /// Bytes of the file before the elements.
    len: usize,
}

fn parse_header(contents: &[u8]) -> std::result::Result<Header, &'static str> {
    let rest = contents.strip_prefix(MAGIC).ok_or("it does not begin as one")?;
    let (n_len, header_len) = match rest {
        [1, _, low, high, ..] => (2, u16::from_le_bytes([*low, *high]) as usize),
        [2 | 3, _, a, b, c, d, ..] => (4, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        _ => return Err("its version is not known"),
    };
    let start = MAGIC.len() + 2 + n_len;
    let len = start.checked_add(header_len).ok_or("its header is cut short")?;
    let text = contents.get(start..len).and_then(|text| std::str::from_utf8(text).ok());
    let text = text.ok_or("its header is cut short")?;
    let field = |name: &str| {
        let (_, after) = text.split_once(&format!("'{name}':"))?;
        Some(after.trim_start())
    };
    let code =
        field("descr").and_then(|after| after.strip_prefix('\'')).and_then(|after| after.split_once('\''));
    let (code, _) = code.ok_or("its header names no element type")?;
    let dtype = dtype::parse(code).and_then(ElementType::real).ok_or("its element type is not supported")?;
    let is_fortran = field("fortran_order").is_some_and(|after| after.starts_with("True"));
    let shape =
        field("shape").and_then(|after| after.strip_prefix('(')).and_then(|after| after.split_once(')'));
    let (shape, _) = shape.ok_or("its header names no shape")?;
    let lens = shape.split(',').map(str::trim).filter(|len| !len.is_empty());
    let shape: std::result::Result<Vec<usize>, _> = lens.map(str::parse).collect();
    let shape = shape.map_err(|_| "its shape is not one of ints")?;
    if shape.len() > operand::MAX_AXES {
        return Err("it has too many axes");
    }
    Ok(Header { dtype, shape, is_fortran, len })
}

fn from_npy(contents: &[u8]) -> Result<NdArray> {
    let header = parse_header(contents).map_err(errors::bad_file)?;
    let n_bytes = check_room(&header.shape, header.dtype)?;
    let elements = contents[header.len..]
        .get(..n_bytes)
        .ok_or_else(|| errors::bad_file("its elements are cut short"))?;
    let row = create::truths(elements, header.dtype);
    if !header.is_fortran {
        return Ok(NdArray::from_row(header.dtype, &header.shape, row));
    }
    let reversed: Vec<usize> = header.shape.iter().rev().copied().collect();
    let order: Vec<usize> = (0..reversed.len()).rev().collect();
    let array = NdArray::from_row(header.dtype, &reversed, row);
    let layout = array.layout().permute(&order);
    Ok(array.with_layout(layout))
}

fn path_of(vm: &mut Vm, value: &Value) -> Result<String> {
    match value.as_str() {
        Some(path) => Ok(path.to_owned()),
        // A `pathlib.Path`.
        None => vm.str(value),
    }
}

fn file_error(error: &std::io::Error, path: &str) -> Raise {
    let (kind, text) = match error.kind() {
        std::io::ErrorKind::NotFound => (ExceptionKind::FileNotFoundError, "No such file or directory"),
        std::io::ErrorKind::PermissionDenied => (ExceptionKind::PermissionError, "Permission denied"),
        std::io::ErrorKind::IsADirectory => (ExceptionKind::IsADirectoryError, "Is a directory"),
        _ => return Raise::new(ExceptionKind::OSError, format!("{error}: '{path}'")),
    };
    let number = error.raw_os_error().unwrap_or(0);
    system_error(kind, number, text, Some(path))
}

fn save(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("save");
    let mut path = path_of(vm, parser.required("file")?)?;
    let array = operand::to_array(vm, parser.required("arr")?, None)?;
    let _pickle = parser.optional("allow_pickle")?;
    parser.finish()?;
    if !path.ends_with(".npy") {
        path.push_str(".npy");
    }
    let contents = to_npy(array.dtype(), array.shape(), &array.to_contiguous_bytes()?);
    blocking::write_file(&vm.path_of(&path), &contents)?.map_err(|error| file_error(&error, &path))?;
    Ok(Value::None)
}

fn load(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("load");
    let path = path_of(vm, parser.required("file")?)?;
    let _mmap = parser.optional("mmap_mode")?;
    let _pickle = parser.optional("allow_pickle")?;
    parser.finish()?;
    let contents = blocking::read_file(&vm.path_of(&path))?.map_err(|error| file_error(&error, &path))?;
    from_npy(&contents).map(Value::native)
}

/// Bare bytes, as `tofile` writes them.
fn fromfile(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("fromfile");
    let path = path_of(vm, parser.required("file")?)?;
    let wanted = parser.optional("dtype")?;
    let count = parser.optional("count")?.map_or(Ok(-1), |count| vm.index(count))?;
    parser.finish()?;
    let dtype = dtype::from_argument(vm, wanted)?.unwrap_or(DType::F64);
    let contents = blocking::read_file(&vm.path_of(&path))?.map_err(|error| file_error(&error, &path))?;
    let n_all = contents.len() / dtype.size();
    let n = usize::try_from(count).map_or(n_all, |count| count.min(n_all));
    let row = create::truths(&contents[..n * dtype.size()], dtype);
    Ok(Value::native(NdArray::from_row(dtype, &[n], row)))
}

pub fn tofile(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("tofile");
    let path = path_of(vm, parser.required("fid")?)?;
    parser.finish()?;
    let array = super::methods::receiver(vm, args)?.into_array()?;
    let contents = array.to_contiguous_bytes()?;
    blocking::write_file(&vm.path_of(&path), &contents)?.map_err(|error| file_error(&error, &path))?;
    Ok(Value::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_back() {
        let contents = to_npy(DType::F32, &[2, 3], &[0; 24]);
        assert_eq!((contents.len() - 24) % ALIGNMENT, 0);
        let expect =
            Header { dtype: DType::F32, shape: vec![2, 3], is_fortran: false, len: contents.len() - 24 };
        assert_eq!(parse_header(&contents), Ok(expect));
        assert_eq!(parse_header(b"PK"), Err("it does not begin as one"));
        assert_eq!(parse_header(&contents[..20]), Err("its header is cut short"));
    }
}
