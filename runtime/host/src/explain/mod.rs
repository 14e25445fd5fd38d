//! Explains a kernel below the lines of its source.
//!
//! An [`Explanation`], which is data, goes in; a page for a reader or JSON for a tool comes out. The compiler
//! made every statement in it: nothing about the language is decided here.

mod asked;
mod json;
mod needs;
mod page;
mod rows;

use kps_device::DeviceError;

use crate::inspect::Explanation;
use needs::Needs;

pub use asked::AskedLine;
pub use json::text as json;

/// A kernel's explanation, and the devices of this machine.
pub struct Explained {
    pub name: String,
    explanation: Explanation,
    needs: Needs,
}

impl Explained {
    /// `device` chooses one of this machine's devices, as `--device` does. By default all of them are tested
    /// for whether they run the kernel.
    pub fn new(name: &str, explanation: Explanation, device: Option<&str>) -> Result<Explained, DeviceError> {
        let needs = Needs::of(&explanation, device)?;
        Ok(Explained { name: name.to_owned(), explanation, needs })
    }

    /// The lines of the kernel and of the functions that it calls, with the essential remarks.
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// All that is known of one line, and its SPIR-V; `None` if neither the kernel nor a function that it
    /// calls contains it.
    pub fn line(&self, asked: &AskedLine) -> Option<String> {
        page::of_line(self, asked)
    }

    /// `` `saxpy` is on lines 8 to 11 ``.
    pub fn place(&self) -> String {
        let (first, last) = page::lines(&self.explanation.functions[0]);
        format!("`{}` is on lines {first} to {last}", self.name)
    }
}
