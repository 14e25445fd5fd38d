//! `open` and file objects, for text and for bytes.
//!
//! A file reads into one buffer and writes through another; `seek` and the change from reading to
//! writing settle both. Text files read every kind of line end as `\n`. Dropping a file closes it.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::support::{given, str_arg};
use super::{bytes, encoding};
use crate::errors;
use crate::value::{Args, ExceptionKind, Native, NativeDef, NativeType, Raise, Result, Value};
use crate::vm::Vm;

pub static FUNCTIONS: &[NativeDef] = &[NativeDef::function("open", open)];

static TEXT: NativeType = NativeType { methods: METHODS, ..NativeType::new("TextIOWrapper", "_io") };
static BINARY: NativeType = NativeType { methods: METHODS, ..NativeType::new("BufferedFile", "_io") };

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
    NativeDef::method("seekable", |_, _| Ok(Value::Bool(true))),
    NativeDef::method("__enter__", enter),
    NativeDef::method("__exit__", close_with),
    NativeDef::method("__iter__", |_, args| args.receiver().cloned()),
    NativeDef::method("__next__", next),
    NativeDef::getter("name", |_, args| Ok(Value::str(&*this(args)?.name))),
    NativeDef::getter("mode", |_, args| Ok(Value::str(&*this(args)?.mode_text))),
    NativeDef::getter("closed", |_, args| Ok(Value::Bool(this(args)?.handle.borrow().is_none()))),
    NativeDef::getter("encoding", |_, args| Ok(Value::str(&*this(args)?.encoding))),
];

/// Bytes read at a time, and written at a time.
const BUFFER: usize = 64 * 1024;

/// What a mode such as `rb+` allows.
#[derive(Clone, Copy)]
struct Mode {
    reads: bool,
    writes: bool,
    is_text: bool,
}

pub struct FileObject {
    name: String,
    mode_text: String,
    mode: Mode,
    encoding: String,
    on_error: String,
    /// `None` once it is closed.
    handle: RefCell<Option<Handle>>,
}

/// An open file and its buffers; at most one of the two holds bytes.
struct Handle {
    file: File,
    /// Bytes read and not yet given out, from `at` on.
    ahead: Vec<u8>,
    at: usize,
    behind: Vec<u8>,
}

impl Native for FileObject {
    fn native_type(&self) -> &'static NativeType {
        if self.mode.is_text { &TEXT } else { &BINARY }
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(this.clone()))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        let name = crate::text::quote::repr(&self.name);
        Ok(match self.mode.is_text {
            true => {
                format!(
                    "<_io.TextIOWrapper name={name} mode='{}' encoding='{}'>",
                    self.mode_text, self.encoding
                )
            }
            false => format!("<_io.BufferedFile name={name} mode='{}'>", self.mode_text),
        })
    }
}

impl Drop for FileObject {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.get_mut() {
            // Nobody is left who could be told of an error.
            let _ = handle.write_out();
        }
    }
}

impl Handle {
    fn write_out(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.behind);
        self.file.write_all(&pending)
    }

    /// Forgets what was read ahead, and goes back to where the reader is.
    fn forget_ahead(&mut self) -> io::Result<()> {
        let n_left = self.ahead.len() - self.at;
        self.ahead.clear();
        self.at = 0;
        if n_left > 0 {
            self.file.seek(SeekFrom::Current(-(n_left as i64)))?;
        }
        Ok(())
    }

    fn settle(&mut self) -> io::Result<()> {
        self.write_out()?;
        self.forget_ahead()
    }

    /// Reads more bytes behind those that wait; false at the end of the file.
    fn read_more(&mut self) -> io::Result<bool> {
        self.write_out()?;
        self.ahead.drain(..self.at);
        self.at = 0;
        let n_before = self.ahead.len();
        self.ahead.resize(n_before + BUFFER, 0);
        let n_read = self.file.read(&mut self.ahead[n_before..]);
        self.ahead.truncate(n_before + *n_read.as_ref().unwrap_or(&0));
        Ok(n_read? > 0)
    }

    fn take(&mut self, n_bytes: usize) -> Vec<u8> {
        let end = (self.at + n_bytes).min(self.ahead.len());
        let taken = self.ahead[self.at..end].to_vec();
        self.at = end;
        taken
    }

    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        self.write_out()?;
        let mut all = self.take(usize::MAX - self.at);
        self.file.read_to_end(&mut all)?;
        Ok(all)
    }

    fn read_some(&mut self, n_bytes: usize) -> io::Result<Vec<u8>> {
        while self.ahead.len() - self.at < n_bytes && self.read_more()? {}
        Ok(self.take(n_bytes))
    }

    /// The next line with its end; in text, `\r` and `\r\n` end lines too.
    fn read_line(&mut self, is_text: bool) -> io::Result<Vec<u8>> {
        let mut searched = 0;
        loop {
            let waiting = &self.ahead[self.at..];
            let is_end = |byte: &u8| *byte == b'\n' || is_text && *byte == b'\r';
            if let Some(found) = waiting[searched..].iter().position(is_end) {
                let end = searched + found;
                let may_go_on = waiting[end] == b'\r' && end + 1 == waiting.len();
                if !may_go_on || !self.read_more()? {
                    let is_pair = self.ahead[self.at..][end..].starts_with(b"\r\n");
                    return Ok(self.take(end + 1 + (is_text && is_pair) as usize));
                }
                continue;
            }
            searched = waiting.len();
            if !self.read_more()? {
                return Ok(self.take(searched));
            }
        }
    }

    /// `n_chars` characters, or what is left.
    fn read_chars(&mut self, n_chars: usize) -> io::Result<Vec<u8>> {
        let mut n_bytes = 0;
        for _ in 0..n_chars {
            // The first byte of a character of UTF-8 tells its length.
            if self.ahead.len() - self.at < n_bytes + 4
                && !self.read_more()?
                && self.ahead.len() - self.at <= n_bytes
            {
                break;
            }
            n_bytes += match self.ahead[self.at + n_bytes] {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                b'\r' if self.ahead.get(self.at + n_bytes + 1) == Some(&b'\n') => 2,
                _ => 1,
            };
        }
        Ok(self.take(n_bytes))
    }
}

/// The exception for an error of the system, worded as Python words it.
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
    // Rust adds the code behind the system's own words.
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
    fn with<T>(&self, action: impl FnOnce(&mut Handle) -> io::Result<T>) -> Result<T> {
        let mut handle = self.handle.borrow_mut();
        let Some(handle) = handle.as_mut() else {
            return Err(errors::value_error("I/O operation on closed file."));
        };
        action(handle).map_err(|error| os_error(&error, None))
    }

    fn reading<T>(&self, action: impl FnOnce(&mut Handle) -> io::Result<T>) -> Result<T> {
        if !self.mode.reads && self.handle.borrow().is_some() {
            return Err(unsupported("not readable"));
        }
        self.with(action)
    }

    /// Bytes of the file as scripts see them.
    fn shown(&self, bytes: Vec<u8>) -> Result {
        if !self.mode.is_text {
            return Ok(Value::bytes(bytes));
        }
        let text = encoding::decode(&bytes, &self.encoding, &self.on_error)?;
        if !text.contains('\r') {
            return Ok(Value::str(text));
        }
        Ok(Value::str(text.replace("\r\n", "\n").replace('\r', "\n")))
    }

    fn line(&self) -> Result<Option<Value>> {
        let bytes = self.reading(|handle| handle.read_line(self.mode.is_text))?;
        if bytes.is_empty() { Ok(None) } else { self.shown(bytes).map(Some) }
    }

    /// Writes a value of the file's kind; the number of characters or bytes comes back.
    fn put(&self, value: &Value) -> Result<usize> {
        if !self.mode.writes && self.handle.borrow().is_some() {
            return Err(unsupported("not writable"));
        }
        let (bytes, n_written) = match (self.mode.is_text, value.as_str()) {
            (true, Some(text)) => {
                let bytes = encoding::encode(text, &self.encoding, &self.on_error)?;
                (bytes, crate::text::pad::n_chars(text))
            }
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

    fn shut(&self) -> Result<()> {
        let taken = self.handle.borrow_mut().take();
        match taken {
            Some(mut handle) => handle.write_out().map_err(|error| os_error(&error, None)),
            None => Ok(()),
        }
    }
}

fn unsupported(message: &str) -> Raise {
    Raise::new(ExceptionKind::OSError, message)
}

/// `open(path, mode="r", buffering=-1, encoding=None, errors=None, newline=None)`.
fn open(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("open");
    let path = parser.required("file")?;
    let mode = parser.optional("mode")?;
    let _buffering = parser.optional("buffering")?;
    let encoding = given(parser.optional("encoding")?);
    let on_error = given(parser.optional("errors")?);
    let _newline = parser.optional("newline")?;
    parser.finish()?;
    let mode_text = mode.map_or(Ok("r"), |mode| str_arg(mode, "open", 2))?;
    let encoding = encoding.map_or(Ok("utf-8"), |value| str_arg(value, "open", 4))?;
    let on_error = on_error.map_or(Ok("strict"), |value| str_arg(value, "open", 5))?;
    let path = path_text(vm, path)?;
    let (mode, options) = parse_mode(mode_text)?;
    let file = options.open(&path).map_err(|error| os_error(&error, Some(&path)))?;
    // Linux opens folders for reading; reading them is what fails.
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(system_error(ExceptionKind::IsADirectoryError, 21, "Is a directory", Some(&path)));
    }
    let handle = Handle { file, ahead: Vec::new(), at: 0, behind: Vec::new() };
    Ok(Value::native(FileObject {
        name: path,
        mode_text: mode_text.to_owned(),
        mode,
        encoding: encoding.to_owned(),
        on_error: on_error.to_owned(),
        handle: RefCell::new(Some(handle)),
    }))
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
        Some(n_chars) if file.mode.is_text => handle.read_chars(n_chars),
        Some(n_bytes) => handle.read_some(n_bytes),
    })?;
    file.shown(bytes)
}

fn readline(vm: &mut Vm, args: &Args) -> Result {
    size_arg(vm, args, "readline")?;
    let file = this(args)?;
    match file.line()? {
        Some(line) => Ok(line),
        None => file.shown(Vec::new()),
    }
}

fn readlines(vm: &mut Vm, args: &Args) -> Result {
    size_arg(vm, args, "readlines")?;
    let file = this(args)?;
    let mut lines = Vec::new();
    while let Some(line) = file.line()? {
        vm.poll()?;
        lines.push(line);
    }
    Ok(Value::list(lines))
}

fn next(_: &mut Vm, args: &Args) -> Result {
    this(args)?.line()?.ok_or_else(|| errors::stop_iteration(Value::None))
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
    let position = this(args)?.with(|handle| {
        handle.settle()?;
        handle.file.seek(target)
    })?;
    Ok(Value::from(position))
}

fn tell(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("tell")?;
    let position = this(args)?.with(|handle| {
        let waiting = (handle.ahead.len() - handle.at) as u64;
        Ok(handle.file.stream_position()? - waiting + handle.behind.len() as u64)
    })?;
    Ok(Value::from(position))
}

fn truncate(vm: &mut Vm, args: &Args) -> Result {
    let size = size_arg(vm, args, "truncate")?;
    let size = this(args)?.with(|handle| {
        handle.settle()?;
        let size = match size {
            Some(size) => size as u64,
            None => handle.file.stream_position()?,
        };
        handle.file.set_len(size).map(|()| size)
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

/// `__exit__`: closes, and lets the exception go on.
fn close_with(_: &mut Vm, args: &Args) -> Result {
    this(args)?.shut()?;
    Ok(Value::Bool(false))
}
