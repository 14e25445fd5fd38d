//! The module `_os`: the system's files and folders, and this process. The modules `os`, `os.path` and
//! `pathlib` of the standard library use it.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use crate::builtins::file::{os_error, path_text};
use crate::errors;
use crate::value::{Args, Dict, NativeDef, NativeModule, Result, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule { functions: FUNCTIONS, ..NativeModule::new("_os") };

static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("stat", stat),
    NativeDef::function("listdir", listdir),
    NativeDef::function("mkdir", |vm, args| act(vm, args, |path| fs::create_dir(path))),
    NativeDef::function("rmdir", |vm, args| act(vm, args, |path| fs::remove_dir(path))),
    NativeDef::function("remove", |vm, args| act(vm, args, |path| fs::remove_file(path))),
    NativeDef::function("rename", rename),
    NativeDef::function("realpath", realpath),
    NativeDef::function("getcwd", getcwd),
    NativeDef::function("chdir", chdir),
    NativeDef::function("environ", environ),
    NativeDef::function("getpid", |_, _| Ok(Value::Int(std::process::id().into()))),
    NativeDef::function("cpu_count", |_, _| {
        Ok(std::thread::available_parallelism().map_or(Value::None, |n| Value::Int(n.get() as i64)))
    }),
];

/// `stat(path)`: the kind (`"file"`, `"folder"` or `"other"`), the size in bytes, and the modification time
/// in seconds.
fn stat(vm: &mut Vm, args: &Args) -> Result {
    let path = only_path(vm, args)?;
    let metadata = fs::metadata(vm.path_of(&path)).map_err(|error| os_error(&error, Some(&path)))?;
    let bytes = Value::from(metadata.len());
    Ok(Value::tuple(vec![Value::str(kind(&metadata)), bytes, Value::Float(changed(&metadata))]))
}

fn kind(metadata: &Metadata) -> &'static str {
    match metadata {
        metadata if metadata.is_file() => "file",
        metadata if metadata.is_dir() => "folder",
        _ => "other",
    }
}

fn changed(metadata: &Metadata) -> f64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The names in a folder, in the order of the alphabet.
fn listdir(vm: &mut Vm, args: &Args) -> Result {
    let path = only_path(vm, args)?;
    let entries = fs::read_dir(vm.path_of(&path)).map_err(|error| os_error(&error, Some(&path)))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| os_error(&error, Some(&path)))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(Value::list(names.into_iter().map(Value::str).collect()))
}

fn rename(vm: &mut Vm, args: &Args) -> Result {
    let [from, to] = args.exactly("rename")?;
    let (from, to) = (path_text(vm, from)?, path_text(vm, to)?);
    fs::rename(vm.path_of(&from), vm.path_of(&to)).map_err(|error| os_error(&error, Some(&from)))?;
    Ok(Value::None)
}

/// Without links, `.` and `..`; None if the path does not exist.
fn realpath(vm: &mut Vm, args: &Args) -> Result {
    let path = only_path(vm, args)?;
    Ok(fs::canonicalize(vm.path_of(&path)).map_or(Value::None, |path| text(&path)))
}

fn getcwd(vm: &mut Vm, _: &Args) -> Result {
    working_folder(vm).map(|path| text(&path)).map_err(|error| os_error(&error, None))
}

/// The host's working folder, without links; by default that of the process.
fn working_folder(vm: &Vm) -> io::Result<PathBuf> {
    vm.folder.as_ref().map_or_else(std::env::current_dir, fs::canonicalize)
}

/// Changes the host's folder. The process, which may run other hosts, is not affected.
fn chdir(vm: &mut Vm, args: &Args) -> Result {
    let path = only_path(vm, args)?;
    // Access to the folder's `.` requires the permission to enter it.
    let entered = fs::metadata(vm.path_of(&path).join(".")).and_then(|_| fs::canonicalize(vm.path_of(&path)));
    vm.folder = Some(entered.map_err(|error| os_error(&error, Some(&path)))?);
    Ok(Value::None)
}

fn environ(_: &mut Vm, _: &Args) -> Result {
    let dict = Dict::new();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        dict.insert_text(Value::str(name), Value::str(value));
    }
    Ok(Value::Dict(Rc::new(dict)))
}

/// Applies an action to the only path argument.
fn act(vm: &mut Vm, args: &Args, action: impl FnOnce(&Path) -> io::Result<()>) -> Result {
    let path = only_path(vm, args)?;
    action(&vm.path_of(&path)).map_err(|error| os_error(&error, Some(&path)))?;
    Ok(Value::None)
}

fn only_path(vm: &mut Vm, args: &Args) -> Result<String> {
    match args.positional() {
        [path] => path_text(vm, path),
        _ => Err(errors::type_error("this function takes one path")),
    }
}

fn text(path: &Path) -> Value {
    Value::str(path.display().to_string())
}
