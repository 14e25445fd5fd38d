//! `open` and file objects, for text and for bytes.
//!
//! Arguments of a script go in; texts, bytes and system errors as exceptions come out. `newline=` determines
//! the line ends of a text file. Dropping a file closes it. The buffers are in `file_handle.rs`.

use std::cell::{Cell, RefCell};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd};

use super::bytes;
use super::encoding::{self, Units};
use super::file_handle::{BUFFER, Handle, Newline, Text};
use super::support::{given, str_arg};
use crate::blocking;
use crate::errors;
use crate::value::{Args, ExceptionKind, Native, NativeDef, NativeType, Raise, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[NativeDef::function("open", open).doc(
    "(file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, \
     closefd=True)",
    "Opens a file for reading or writing; raises OSError if that fails.",
)];

static TEXT: NativeType = NativeType { methods: METHODS, ..NativeType::new("TextIOWrapper", "_io") };
static READER: NativeType = NativeType { methods: METHODS, ..NativeType::new("BufferedReader", "_io") };
static WRITER: NativeType = NativeType { methods: METHODS, ..NativeType::new("BufferedWriter", "_io") };
static RANDOM: NativeType = NativeType { methods: METHODS, ..NativeType::new("BufferedRandom", "_io") };

static METHODS: &[NativeDef] = &[
    NativeDef::method("read", read),
    NativeDef::method("readline", readline),
    NativeDef::method("readlines", readlines),
    NativeDef::method("write", write),
    NativeDef::method("writelines", writelines),
    NativeDef::method("flush", flush),
    NativeDef::method("seek", seek),
    NativeDef::method("tell", tell),
    NativeDef::method("truncate", truncate),
    NativeDef::method("close", close),
    NativeDef::method("readable", |_, args| Ok(Value::Bool(this(args)?.mode.reads))),
    NativeDef::method("writable", |_, args| Ok(Value::Bool(this(args)?.mode.writes))),
    NativeDef::method("seekable", |_, args| {
        Ok(Value::Bool(this(args)?.with(|handle| Ok(handle.is_seekable()))?))
    }),
    NativeDef::method("fileno", |_, args| {
        Ok(Value::from(this(args)?.with(|handle| Ok(handle.file.as_raw_fd()))?))
    }),
    NativeDef::method("isatty", |_, args| {
        Ok(Value::Bool(this(args)?.with(|handle| Ok(handle.file.is_terminal()))?))
    }),
    NativeDef::method("__enter__", enter),
    NativeDef::method("__exit__", close_with),
    NativeDef::method("__iter__", |_, args| args.receiver().cloned()),
    NativeDef::method("__next__", next),
    NativeDef::getter("name", |_, args| Ok(this(args)?.name.clone())),
    NativeDef::getter("mode", |_, args| Ok(Value::str(&*this(args)?.mode_text))),
    NativeDef::getter("closed", |_, args| Ok(Value::Bool(this(args)?.handle.borrow().is_none()))),
    NativeDef::getter("encoding", |_, args| Ok(this(args)?.text()?.encoding.as_str().into())),
    NativeDef::getter("errors", |_, args| Ok(this(args)?.text()?.on_error.as_str().into())),
];

/// What a mode such as `rb+` allows.
#[derive(Clone, Copy)]
struct Mode {
    reads: bool,
    writes: bool,
    is_text: bool,
}

pub struct FileObject {
    /// The path, or the number of a file that was open.
    name: Value,
    mode_text: String,
    mode: Mode,
    /// Without meaning in a file of bytes.
    text: Text,
    /// `None` after it is closed.
    handle: RefCell<Option<Handle>>,
}

impl Native for FileObject {
    fn native_type(&self) -> &'static NativeType {
        match self.mode {
            Mode { is_text: true, .. } => &TEXT,
            Mode { reads: true, writes: true, .. } => &RANDOM,
            Mode { writes: true, .. } => &WRITER,
            _ => &READER,
        }
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(this.clone()))
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let name = vm.repr(&self.name)?;
        Ok(match self.mode.is_text {
            true => {
                format!(
                    "<_io.TextIOWrapper name={name} mode='{}' encoding='{}'>",
                    self.mode_text, self.text.encoding
                )
            }
            false => format!("<_io.{} name={name}>", self.native_type().name),
        })
    }
}

impl Drop for FileObject {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.get_mut() {
            // No caller remains to receive an error or an interrupt.
            let _ = handle.file.write_all(&handle.behind);
        }
    }
}

/// The exception for a system error, in Python's words.
pub fn os_error(error: &io::Error, path: Option<&str>) -> Raise {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ExceptionKind::FileNotFoundError,
        io::ErrorKind::AlreadyExists => ExceptionKind::FileExistsError,
        io::ErrorKind::PermissionDenied => ExceptionKind::PermissionError,
        io::ErrorKind::IsADirectory => ExceptionKind::IsADirectoryError,
        io::ErrorKind::NotADirectory => ExceptionKind::NotADirectoryError,
        io::ErrorKind::BrokenPipe => ExceptionKind::BrokenPipeError,
        io::ErrorKind::TimedOut => ExceptionKind::TimeoutError,
        _ => ExceptionKind::OSError,
    };
    // Rust appends the error code to the system's message.
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or(&text);
    match error.raw_os_error() {
        Some(number) => system_error(kind, number, words, path),
        None => {
            let path = path.map_or(String::new(), |path| format!(": {}", crate::text::quote::repr(path)));
            Raise::new(kind, format!("{words}{path}"))
        }
    }
}

impl From<io::Error> for Raise {
    fn from(error: io::Error) -> Raise {
        os_error(&error, None)
    }
}

/// An error with its number, as scripts find it in `errno`, `strerror` and `filename`.
pub fn system_error(kind: ExceptionKind, number: i32, words: &str, path: Option<&str>) -> Raise {
    let args = [Value::Int(number.into()), Value::str(words)];
    Raise::with_args(kind, args.into_iter().chain(path.map(Value::str)).collect())
}

fn this<'a>(args: &Args<'a>) -> Result<&'a FileObject> {
    args.this::<FileObject>()
}

impl FileObject {
    /// Runs an action on the open file.
    fn with<T>(&self, action: impl FnOnce(&mut Handle) -> Result<T>) -> Result<T> {
        let mut handle = self.handle.borrow_mut();
        let Some(handle) = handle.as_mut() else {
            return Err(errors::value_error("I/O operation on closed file."));
        };
        action(handle)
    }

    fn reading<T>(&self, action: impl FnOnce(&mut Handle) -> Result<T>) -> Result<T> {
        if !self.mode.reads && self.handle.borrow().is_some() {
            return Err(unsupported("not readable"));
        }
        if self.mode.is_text
            && self.text.units == Units::Wide
            && let Some(handle) = self.handle.borrow_mut().as_mut()
        {
            handle.decode_rest(&self.text)?;
        }
        self.with(action)
    }

    /// The text properties; a binary file has no such attributes.
    fn text(&self) -> Result<&Text> {
        match self.mode.is_text {
            true => Ok(&self.text),
            false => {
                let name = self.native_type().name;
                Err(errors::attribute_error(format!("'_io.{name}' object has no attribute 'encoding'")))
            }
        }
    }

    /// Bytes of the file as scripts see them.
    fn shown(&self, bytes: Vec<u8>) -> Result {
        if !self.mode.is_text {
            return Ok(Value::bytes(bytes));
        }
        let encoding = if self.text.units == Units::Wide { "utf-8" } else { &self.text.encoding };
        let text = encoding::decode(&bytes, encoding, &self.text.on_error)?;
        if self.text.newline != Newline::Translated || !text.contains('\r') {
            return Ok(Value::str(text));
        }
        Ok(Value::str(text.replace("\r\n", "\n").replace('\r', "\n")))
    }

    fn line(&self, most: Option<usize>) -> Result<Option<Value>> {
        let newline = if self.mode.is_text { self.text.newline } else { Newline::Only("\n") };
        let bytes = self.reading(|handle| handle.read_line(newline, most.unwrap_or(usize::MAX)))?;
        if bytes.is_empty() { Ok(None) } else { self.shown(bytes).map(Some) }
    }

    /// Writes a value of the file's kind, and returns the number of characters or bytes.
    fn put(&self, value: &Value) -> Result<usize> {
        if !self.mode.writes && self.handle.borrow().is_some() {
            return Err(unsupported("not writable"));
        }
        let (bytes, n_written) = match (self.mode.is_text, value.as_str()) {
            (true, Some(text)) => (self.encoded(text)?, crate::text::pad::n_chars(text)),
            (true, None) => {
                let given = value.type_name();
                return Err(errors::type_error(format!("write() argument must be str, not {given}")));
            }
            (false, _) => {
                let bytes = bytes::required(value)?;
                let n_written = bytes.len();
                (bytes, n_written)
            }
        };
        self.with(|handle| {
            handle.forget_ahead()?;
            handle.behind.extend(bytes);
            if handle.behind.len() >= BUFFER { handle.write_out() } else { Ok(()) }
        })?;
        Ok(n_written)
    }

    fn encoded(&self, text: &str) -> Result<Vec<u8>> {
        let how = &self.text;
        let encoding =
            if how.is_mark_due.replace(false) { &how.encoding } else { encoding::unmarked(&how.encoding) };
        match how.newline {
            Newline::Only(end) if end != "\n" => {
                encoding::encode(&text.replace('\n', end), encoding, &how.on_error)
            }
            _ => encoding::encode(text, encoding, &how.on_error),
        }
    }

    fn shut(&self) -> Result<()> {
        let mut handle = self.handle.borrow_mut();
        let written = handle.as_mut().map_or(Ok(()), Handle::write_out);
        // After an interrupt, unwritten bytes remain, and the file stays open for them.
        if handle.as_ref().is_some_and(|handle| handle.behind.is_empty()) {
            *handle = None;
        }
        written
    }
}

fn unsupported(message: &str) -> Raise {
    Raise::new(ExceptionKind::OSError, message)
}

/// `open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True)`.
fn open(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("open");
    let path = parser.required("file")?;
    let mode = parser.optional("mode")?;
    let _buffering = parser.optional("buffering")?;
    let encoding = given(parser.optional("encoding")?);
    let on_error = given(parser.optional("errors")?);
    let newline = given(parser.optional("newline")?);
    let _closes = parser.optional("closefd")?;
    parser.finish()?;
    let mode_text = mode.map_or(Ok("r"), |mode| str_arg(mode, "open", 2))?;
    let (mode, options) = parse_mode(mode_text)?;
    for (argument, value) in [("an encoding", encoding), ("an errors", on_error), ("a newline", newline)] {
        if !mode.is_text && value.is_some() {
            return Err(errors::value_error(format!("binary mode doesn't take {argument} argument")));
        }
    }
    let encoding = encoding.map_or(Ok("utf-8"), |value| str_arg(value, "open", 4))?;
    let on_error = on_error.map_or(Ok("strict"), |value| str_arg(value, "open", 5))?;
    let (units, has_mark) = encoding::units(encoding)?;
    let newline = Newline::from_argument(newline)?;
    let (mut file, name) = match path {
        Value::Int(_) | Value::Bool(_) => (open_number(vm.index(path)?, &options)?, path.clone()),
        path => {
            let path = path_text(vm, path)?;
            let opened = blocking::open(&vm.path_of(&path), &options)?;
            let file = opened.map_err(|error| os_error(&error, Some(&path)))?;
            // Linux opens folders for reading; only reading them fails.
            if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                return Err(system_error(
                    ExceptionKind::IsADirectoryError,
                    21,
                    "Is a directory",
                    Some(&path),
                ));
            }
            (file, Value::str(path))
        }
    };
    if mode_text.contains('a') {
        // A file that cannot seek is written from its current position.
        let _ = file.seek(SeekFrom::End(0));
    }
    let is_start = file.stream_position().map_or(true, |position| position == 0);
    Ok(Value::native(FileObject {
        name,
        mode_text: mode_text.to_owned(),
        mode,
        text: Text {
            encoding: encoding.to_owned(),
            units,
            on_error: on_error.to_owned(),
            newline,
            is_mark_due: Cell::new(has_mark && is_start),
        },
        handle: RefCell::new(Some(Handle::new(file))),
    }))
}

/// A file that is open already, by its number: a second handle of it.
fn open_number(number: i64, options: &OpenOptions) -> Result<File> {
    let duplicate = match number {
        ..0 => return Err(errors::value_error("negative file descriptor")),
        0 => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        1 => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        2 => io::stderr().as_fd().try_clone_to_owned().map(File::from),
        other => options.open(format!("/dev/fd/{other}")),
    };
    duplicate.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => system_error(ExceptionKind::OSError, 9, "Bad file descriptor", None),
        _ => os_error(&error, None),
    })
}

/// The path that a str, or an object with `__fspath__`, names.
pub fn path_text(vm: &mut Vm, path: &Value) -> Result<String> {
    if let Some(text) = path.as_str() {
        return Ok(text.to_owned());
    }
    let function = vm.class_of(path).lookup_text("__fspath__");
    let found = match function {
        Some(function) => Some(vm.call_method_value(&function, path, &[])?),
        None => None,
    };
    match found.as_ref().and_then(Value::as_str) {
        Some(text) => Ok(text.to_owned()),
        None => Err(errors::type_error(format!(
            "expected str, bytes or os.PathLike object, not {}",
            path.type_name()
        ))),
    }
}

fn parse_mode(text: &str) -> Result<(Mode, OpenOptions)> {
    let invalid = || errors::value_error(format!("invalid mode: {}", crate::text::quote::repr(text)));
    let has = |letter: char| text.contains(letter);
    let is_repeated = |letter: char| text.matches(letter).count() > 1;
    if text.chars().any(|c| !"rwaxbt+".contains(c) || is_repeated(c)) {
        return Err(invalid());
    }
    if has('b') && has('t') {
        return Err(errors::value_error("can't have text and binary mode at once"));
    }
    if "rwax".chars().filter(|&letter| has(letter)).count() != 1 {
        return Err(errors::value_error("must have exactly one of create/read/write/append mode"));
    }
    let mode = Mode { reads: has('r') || has('+'), writes: !has('r') || has('+'), is_text: !has('b') };
    let mut options = OpenOptions::new();
    options.read(mode.reads).append(has('a')).write(mode.writes && !has('a'));
    options.truncate(has('w')).create(has('w') || has('a')).create_new(has('x'));
    Ok((mode, options))
}

/// The most characters or bytes to read; `None` for all.
fn size_arg(vm: &mut Vm, args: &Args, function: &'static str) -> Result<Option<usize>> {
    let mut parser = args.method_parser(function);
    let size = given(parser.optional("size")?);
    parser.finish()?;
    let size = size.map(|size| vm.index(size)).transpose()?;
    Ok(size.and_then(|size| usize::try_from(size).ok()))
}

fn read(vm: &mut Vm, args: &Args) -> Result {
    let size = size_arg(vm, args, "read")?;
    let file = this(args)?;
    let bytes = file.reading(|handle| match size {
        None => handle.read_all(),
        Some(n_chars) if file.mode.is_text => handle.read_chars(n_chars, file.text.units, file.text.newline),
        Some(n_bytes) => handle.read_some(n_bytes),
    })?;
    file.shown(bytes)
}

fn readline(vm: &mut Vm, args: &Args) -> Result {
    let most = size_arg(vm, args, "readline")?;
    let file = this(args)?;
    match file.line(most)? {
        Some(line) => Ok(line),
        None => file.shown(Vec::new()),
    }
}

fn readlines(vm: &mut Vm, args: &Args) -> Result {
    let hint = size_arg(vm, args, "readlines")?.filter(|hint| *hint > 0);
    let file = this(args)?;
    let (mut lines, mut n_read) = (Vec::new(), 0);
    while let Some(line) = file.line(None)? {
        vm.poll()?;
        n_read += vm.len(&line)?;
        lines.push(line);
        if hint.is_some_and(|hint| n_read >= hint) {
            break;
        }
    }
    Ok(Value::list(lines))
}

fn next(_: &mut Vm, args: &Args) -> Result {
    this(args)?.line(None)?.ok_or_else(|| errors::stop_iteration(Value::None))
}

fn write(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("write")?;
    Ok(Value::from(this(args)?.put(value)?))
}

fn writelines(vm: &mut Vm, args: &Args) -> Result {
    let [lines] = args.rest().exactly("writelines")?;
    let iter = vm.iter(lines)?;
    while let Some(line) = vm.next(&iter)? {
        vm.poll()?;
        this(args)?.put(&line)?;
    }
    Ok(Value::None)
}

fn flush(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("flush")?;
    this(args)?.with(Handle::write_out)?;
    Ok(Value::None)
}

fn seek(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("seek");
    let offset = vm.index(parser.required("offset")?)?;
    let whence = parser.optional("whence")?.map_or(Ok(0), |whence| vm.index(whence))?;
    parser.finish()?;
    let target = match whence {
        0 => match u64::try_from(offset) {
            Ok(offset) => SeekFrom::Start(offset),
            Err(_) => return Err(errors::value_error(format!("negative seek position {offset}"))),
        },
        1 => SeekFrom::Current(offset),
        2 => SeekFrom::End(offset),
        other => return Err(errors::value_error(format!("invalid whence ({other}, should be 0, 1 or 2)"))),
    };
    let file = this(args)?;
    if file.mode.is_text && offset != 0 && whence != 0 {
        let which = if whence == 1 { "cur" } else { "end" };
        return Err(unsupported(&format!("can't do nonzero {which}-relative seeks")));
    }
    let position = file.with(|handle| handle.seek(target))?;
    if position == 0 {
        file.text.is_mark_due.set(encoding::units(&file.text.encoding)?.1);
    }
    Ok(Value::from(position))
}

fn tell(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("tell")?;
    let position = this(args)?.with(|handle| {
        let waiting = handle.n_waiting() as u64;
        Ok(handle.file.stream_position()? - waiting + handle.behind.len() as u64)
    })?;
    Ok(Value::from(position))
}

fn truncate(vm: &mut Vm, args: &Args) -> Result {
    let size = size_arg(vm, args, "truncate")?;
    let size = this(args)?.with(|handle| {
        handle.synchronise()?;
        let size = match size {
            Some(size) => size as u64,
            None => handle.file.stream_position()?,
        };
        handle.file.set_len(size)?;
        Ok(size)
    })?;
    Ok(Value::from(size))
}

fn close(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("close")?;
    this(args)?.shut()?;
    Ok(Value::None)
}

fn enter(_: &mut Vm, args: &Args) -> Result {
    this(args)?.with(|_| Ok(()))?;
    args.receiver().cloned()
}

/// `__exit__`: closes, and does not suppress the exception.
fn close_with(_: &mut Vm, args: &Args) -> Result {
    this(args)?.shut()?;
    Ok(Value::Bool(false))
}
