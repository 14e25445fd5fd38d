//! Where `print` writes: a buffer before the embedder's sink.

use std::io::{self, Write};

/// Written bytes wait here until there are this many.
const BUFFER: usize = 8 * 1024;

/// A sink for what scripts print. It is flushed when a run ends, before input is read, and on demand.
pub struct Output {
    buffer: Vec<u8>,
    sink: Box<dyn Write>,
    /// The first error of the sink: whoever reads the other end is gone, and writing on is pointless.
    broken: Option<io::ErrorKind>,
}

impl Output {
    pub fn new(sink: impl Write + 'static) -> Output {
        Output { buffer: Vec::new(), sink: Box::new(sink), broken: None }
    }

    pub fn stdout() -> Output {
        Output::new(io::stdout())
    }

    pub fn write(&mut self, text: &str) -> io::Result<()> {
        if let Some(kind) = self.broken {
            return Err(kind.into());
        }
        self.buffer.extend_from_slice(text.as_bytes());
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(kind) = self.broken {
            self.buffer.clear();
            return Err(kind.into());
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = self.sink.write_all(&self.buffer).and_then(|()| self.sink.flush());
        self.buffer.clear();
        result.inspect_err(|error| self.broken = Some(error.kind()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // Nobody is left who could be told of an error.
        let _ = self.flush();
    }
}
