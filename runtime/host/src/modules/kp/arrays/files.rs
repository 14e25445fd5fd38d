//! Tensors in NumPy's files: `kp.save(path, x)`, `kp.savez(path, a=x, b=y)`, `kp.load(path)`.
//!
//! A file is read into the memory that becomes the tensor's, without a copy between. An `.npz` file is a ZIP archive
//! with an `.npy` file for each array.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::rc::Rc;

use kps_compute::Written;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{as_array, engine_for, of_elements, raised, result};
use crate::builtins::file::{os_error, path_text};
use crate::errors::{type_error, value_error};
use crate::modules::kp::tensor::ScriptTensor;
use crate::modules::kp::values::Elements;
use crate::modules::numpy::npy;
use crate::value::{Args, Dict, NativeDef, Raise, Result, Value};
use crate::vm::{Vm, checkpoint};
use crate::{blocking, memory};

pub const FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("save", save).doc(
        "(path, x)",
        "Writes a tensor to a file in NumPy's format; `.npy` is added to a path without it.",
    ),
    NativeDef::function("savez", |vm, args| save_archive(vm, args, "savez", CompressionMethod::Stored)).doc(
        "(path, *arrays, **named)",
        "Writes tensors to one `.npz` file; those without a name are `arr_0`, `arr_1`.",
    ),
    NativeDef::function("savez_compressed", |vm, args| {
        save_archive(vm, args, "savez_compressed", CompressionMethod::Deflated)
    })
    .doc("(path, *arrays, **named)", "As `savez`, compressed."),
    NativeDef::function("load", load)
        .doc("(path)", "The tensor in an `.npy` file; of an `.npz` file, a dict of its tensors by name."),
];

/// The first bytes of a ZIP archive.
const ZIP: &[u8] = b"PK";

fn save(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("save");
    let (path, x) = (parser.required("path")?, parser.required("x")?);
    parser.finish()?;
    let path = with_ending(path_text(vm, path)?, ".npy");
    let (header, row) = contents(vm, x)?;
    let written = blocking::write_pieces(&vm.path_of(&path), &[&header, &row])?;
    written.map_err(|error| os_error(&error, Some(&path))).map(|()| Value::None)
}

fn with_ending(path: String, ending: &str) -> String {
    if path.ends_with(ending) { path } else { path + ending }
}

/// The header and the elements of an `.npy` file.
fn contents(vm: &mut Vm, x: &Value) -> Result<(Vec<u8>, Rc<Vec<u8>>)> {
    if x.downcast::<ScriptTensor>().is_some_and(|tensor| !tensor.is_of_numbers()) {
        return Err(type_error("only tensors of numbers are saved"));
    }
    let x = as_array(vm, x)?;
    let header = npy::header(x.dtype(), x.shape());
    if x.size() == 0 {
        return Ok((header, Rc::default()));
    }
    let tensor = x.in_one_piece().and_then(|x| x.tensor()).map_err(raised)?;
    let row = tensor.shared_bytes().map_err(super::compute)?;
    Ok((header, row))
}

fn save_archive(vm: &mut Vm, args: &Args, function: &str, method: CompressionMethod) -> Result {
    let [path, unnamed @ ..] = args.positional() else {
        return Err(crate::errors::missing_argument(function, "path", 1));
    };
    let path = with_ending(path_text(vm, path)?, ".npz");
    let numbered = unnamed.iter().enumerate().map(|(at, x)| (format!("arr_{at}"), x));
    let named = args.keywords().map(|(name, x)| (name.to_string(), x));
    let arrays: Vec<(String, &Value)> = numbered.chain(named).collect();
    if let Some((name, _)) =
        arrays.iter().skip(unnamed.len()).find(|(name, _)| is_among(&arrays[..unnamed.len()], name))
    {
        return Err(value_error(format!("{function}() has an array without a name for `{name}` already")));
    }
    let file = blocking::create(&vm.path_of(&path))?.map_err(|error| os_error(&error, Some(&path)))?;
    let mut archive = ZipWriter::new(BufWriter::new(file));
    for (name, x) in arrays {
        let (header, row) = contents(vm, x)?;
        checkpoint()?;
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .large_file(u32::try_from(header.len() + row.len()).is_err());
        let written = archive.start_file(format!("{name}.npy"), options).and_then(|()| {
            archive.write_all(&header)?;
            Ok(archive.write_all(&row)?)
        });
        written.map_err(|error| archive_error(error, &path))?;
    }
    let file = archive.finish().map_err(|error| archive_error(error, &path))?;
    file.into_inner().map_err(|error| os_error(error.error(), Some(&path)))?;
    Ok(Value::None)
}

fn is_among(arrays: &[(String, &Value)], name: &str) -> bool {
    arrays.iter().any(|(known, _)| known == name)
}

fn archive_error(error: ZipError, path: &str) -> Raise {
    match error {
        ZipError::Io(error) => os_error(&error, Some(path)),
        error => value_error(format!("the file is not an archive in .npz format: {error}")),
    }
}

fn load(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("load");
    let path = parser.required("path")?;
    parser.finish()?;
    let path = path_text(vm, path)?;
    let io_error = |error| os_error(&error, Some(&path));
    let opened = blocking::open(&vm.path_of(&path), OpenOptions::new().read(true))?;
    let mut file = opened.map_err(io_error)?;
    let mut start = Vec::new();
    blocking::read_up_to(&mut file, &mut start, ZIP.len())?.map_err(io_error)?;
    file.rewind().map_err(io_error)?;
    if start == ZIP {
        return load_archive(vm, file, &path);
    }
    let contents = npy::read(&mut |bytes, n| blocking::read_up_to(&mut file, bytes, n)?.map_err(io_error))?;
    loaded(vm, contents)
}

fn load_archive(vm: &mut Vm, file: File, path: &str) -> Result {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| archive_error(error, path))?;
    let dict = Dict::new();
    for at in 0..archive.len() {
        checkpoint()?;
        let mut entry = archive.by_index(at).map_err(|error| archive_error(error, path))?;
        let name = entry.name().trim_end_matches(".npy").to_owned();
        let contents = npy::read(&mut |bytes, n| {
            memory::make_more_room(bytes, n)?;
            let read = entry.by_ref().take(n as u64).read_to_end(bytes);
            read.map(|_| ()).map_err(|error| archive_error(ZipError::Io(error), path))
        })?;
        dict.insert_text(Value::str(name), loaded(vm, contents)?);
    }
    Ok(Value::Dict(Rc::new(dict)))
}

/// The tensor with the contents of a file.
fn loaded(vm: &mut Vm, contents: npy::Contents) -> Result {
    let engine = engine_for(vm, None)?;
    let (shape, n_axes) = (contents.shape_in_file(), contents.shape.len() as i64);
    let elements =
        Elements { dtype: contents.dtype, shape, bytes: Rc::new(contents.row), written: Written::All };
    let array = of_elements(&engine, elements)?;
    if !contents.is_fortran {
        return result(Ok(array));
    }
    let reversed: Vec<i64> = (0..n_axes).rev().collect();
    result(array.permuted(&reversed).and_then(|array| array.in_one_piece()))
}
