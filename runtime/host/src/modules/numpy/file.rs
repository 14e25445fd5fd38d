//! Arrays in files: `.npy`, and raw bytes.

use std::fs::OpenOptions;

use kps_compute::DType;

use super::array::NdArray;
use super::operand;
use super::{create, dtype, npy};
use crate::blocking;
use crate::builtins::file::system_error;
use crate::value::{Args, ExceptionKind, NativeDef, Raise, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("save", save),
    NativeDef::function("load", load),
    NativeDef::function("fromfile", fromfile),
];

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
    let header = npy::header(array.dtype(), array.shape());
    let written = blocking::write_pieces(&vm.path_of(&path), &[&header, &array.to_contiguous_bytes()?])?;
    written.map_err(|error| file_error(&error, &path))?;
    Ok(Value::None)
}

fn load(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("load");
    let path = path_of(vm, parser.required("file")?)?;
    let _mmap = parser.optional("mmap_mode")?;
    let _pickle = parser.optional("allow_pickle")?;
    parser.finish()?;
    let opened = blocking::open(&vm.path_of(&path), OpenOptions::new().read(true))?;
    let mut file = opened.map_err(|error| file_error(&error, &path))?;
    let contents = npy::read(&mut |bytes, n| {
        blocking::read_up_to(&mut file, bytes, n)?.map_err(|error| file_error(&error, &path))
    })?;
    Ok(Value::native(contents.into_array()))
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
