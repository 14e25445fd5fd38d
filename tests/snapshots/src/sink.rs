//! The output of a host under test.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// Stores what is written to it, or to a clone of it.
#[derive(Clone, Default)]
pub struct Sink(Rc<RefCell<Vec<u8>>>);

impl Sink {
    /// What was written since the last call.
    ///
    /// # Panics
    ///
    /// If it is not text.
    pub fn take(&self) -> String {
        String::from_utf8(self.0.take()).expect("scripts print text")
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
