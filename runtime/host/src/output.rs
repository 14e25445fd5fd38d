//! Where `print` writes, a buffer before the embedder's sink; and where `sys.stderr` does, without one.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Written bytes wait here until there are this many.
const BUFFER: usize = 8 * 1024;

/// A sink for what scripts print. It is flushed when a run ends, before input is read, and on demand.
pub struct Output {
    buffer: Unwritten,
    sink: Box<dyn Write>,
    /// The first error of the sink: whoever reads the other end is gone, and writing on is pointless.
    broken: Option<io::ErrorKind>,
}

/// What was printed and has not reached the sink yet.
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

/// Where `sys.stderr` and log records go: the embedder's sink, or the standard error of the process.
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

    /// Whether somebody reads it on a terminal.
    pub fn is_terminal(&self) -> bool {
        self.0.is_none() && io::IsTerminal::is_terminal(&io::stderr())
    }
}

impl Output {
    pub fn new(sink: impl Write + 'static) -> Output {
        Output { buffer: Unwritten::default(), sink: Box::new(sink), broken: None }
    }

    pub fn stdout() -> Output {
        Output::new(io::stdout())
    }

    /// A handle on what is not written yet, for another thread.
    pub fn unwritten(&self) -> Unwritten {
        self.buffer.clone()
    }

    pub fn write(&mut self, text: &str) -> io::Result<()> {
        if let Some(kind) = self.broken {
            return Err(kind.into());
        }
        let mut buffer = self.buffer.lock();
        buffer.extend_from_slice(text.as_bytes());
        let is_full = buffer.len() >= BUFFER;
        drop(buffer);
        if is_full { self.flush() } else { Ok(()) }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        let bytes = self.buffer.take();
        if let Some(kind) = self.broken {
            return Err(kind.into());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        // The sink may block for as long as it likes: nothing is locked.
        let result = self.sink.write_all(&bytes).and_then(|()| self.sink.flush());
        result.inspect_err(|error| self.broken = Some(error.kind()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Nobody is left who could be told of an error.
        let _ = self.flush();
    }
}
