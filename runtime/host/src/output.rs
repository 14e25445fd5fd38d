//! The output of `print`, buffered before the embedder's sink, and of `sys.stderr`, unbuffered.

use std::cell::RefCell;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::blocking;

/// Written bytes wait here until there are this many.
const BUFFER: usize = 8 * 1024;

/// A sink for a script's output. It is flushed when a run ends, before input is read, and on demand.
pub struct Output {
    buffer: Unwritten,
    sink: Sink,
    /// The first error of the sink: the reader is gone, and further writes are pointless.
    broken: Option<io::ErrorKind>,
}

enum Sink {
    /// The standard output of the process.
    Stdout(io::Stdout),
    Given(Box<dyn Write>),
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sink: &mut dyn Write = match self {
            Sink::Stdout(stdout) => stdout,
            Sink::Given(sink) => sink,
        };
        sink.write_all(bytes).and_then(|()| sink.flush())
    }
}

/// The buffered output.
#[derive(Clone, Default)]
pub struct Unwritten(Arc<Mutex<Vec<u8>>>);

impl Unwritten {
    /// The bytes, which are then the caller's to write.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The output of `sys.stderr` and log records: the embedder's sink, or the standard error of the process.
#[derive(Clone, Default)]
pub struct ErrorOutput(Option<Rc<RefCell<dyn Write>>>);

impl ErrorOutput {
    pub fn new(sink: impl Write + 'static) -> ErrorOutput {
        ErrorOutput(Some(Rc::new(RefCell::new(sink))))
    }

    pub fn write(&self, text: &str) -> io::Result<()> {
        match &self.0 {
            Some(sink) => sink.borrow_mut().write_all(text.as_bytes()),
            None => io::stderr().write_all(text.as_bytes()),
        }
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.0.is_none() && io::IsTerminal::is_terminal(&io::stderr())
    }
}

impl Output {
    pub fn new(sink: impl Write + 'static) -> Output {
        Output::of(Sink::Given(Box::new(sink)))
    }

    pub fn stdout() -> Output {
        Output::of(Sink::Stdout(io::stdout()))
    }

    fn of(sink: Sink) -> Output {
        Output { buffer: Unwritten::default(), sink, broken: None }
    }

    /// A handle to the unwritten output, for another thread.
    pub fn unwritten(&self) -> Unwritten {
        self.buffer.clone()
    }

    /// Appends a text to the buffer; returns whether a flush is due.
    pub fn put(&mut self, text: &str) -> io::Result<bool> {
        if let Some(kind) = self.broken {
            return Err(kind.into());
        }
        let mut buffer = self.buffer.lock();
        buffer.extend_from_slice(text.as_bytes());
        Ok(buffer.len() >= BUFFER)
    }

    /// Writes the whole buffer, and waits for the reader.
    pub fn flush(&mut self) -> io::Result<()> {
        let bytes = self.buffer.take();
        self.write(&bytes)
    }

    /// Writes as much of the buffer as the reader accepts now; the rest remains.
    pub fn flush_ready(&mut self) -> io::Result<()> {
        while self.awaited().is_none_or(blocking::is_ready_to_write) && self.flush_some()? {}
        Ok(())
    }

    /// The descriptor to wait for before [`Output::flush_some`], if there is something to write.
    pub fn awaited(&self) -> Option<RawFd> {
        match &self.sink {
            Sink::Stdout(stdout) if !self.buffer.lock().is_empty() => Some(stdout.as_raw_fd()),
            _ => None,
        }
    }

    /// Writes the first bytes of the buffer, as many as the sink accepts at once; returns whether some
    /// remain.
    pub fn flush_some(&mut self) -> io::Result<bool> {
        let mut buffer = self.buffer.lock();
        let n_taken = match &self.sink {
            Sink::Stdout(_) => buffer.len().min(libc::PIPE_BUF),
            Sink::Given(_) => buffer.len(),
        };
        let bytes: Vec<u8> = buffer.drain(..n_taken).collect();
        let is_some_left = !buffer.is_empty();
        drop(buffer);
        self.write(&bytes).map(|()| is_some_left)
    }

    /// The sink may block for as long as it likes: nothing is locked.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(kind) = self.broken {
            return Err(kind.into());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.sink.write(bytes).inspect_err(|error| self.broken = Some(error.kind()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // No caller remains to handle an error.
        let _ = self.flush();
    }
}
