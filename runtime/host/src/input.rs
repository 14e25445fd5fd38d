//! The input of `input()` and `sys.stdin`: the embedder's reader, or the standard input of the process.
//!
//! A wait for the standard input ends when the host is interrupted. What was typed before that remains for
//! the next read.

use std::io::{self, BufRead, IsTerminal};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::blocking;
use crate::builtins::encoding;
use crate::builtins::file::os_error;
use crate::value::Result;
use crate::vm::Vm;

/// Bytes in the buffer of `io::stdin`: reading those needs no wait. All reads of the process in this file
/// count them.
static BUFFERED: AtomicUsize = AtomicUsize::new(0);

#[derive(Default)]
pub struct Input {
    /// `None` is the standard input.
    given: Option<Box<dyn BufRead>>,
    /// The start of a line that an interrupt cut off.
    begun: Vec<u8>,
}

impl Input {
    pub fn new(reader: impl BufRead + 'static) -> Input {
        Input { given: Some(Box::new(reader)), begun: Vec::new() }
    }

    pub fn is_terminal(&self) -> bool {
        self.given.is_none() && io::stdin().is_terminal()
    }
}

/// The next line, ending with `\n`; `None` at the end of the input.
pub fn read_line(vm: &mut Vm) -> Result<Option<String>> {
    vm.flush()?;
    vm.start_collected();
    while !read_more(vm)? {}
    let line = std::mem::take(&mut vm.input.begun);
    if line.is_empty() {
        return Ok(None);
    }
    let line = encoding::decode(&line, "utf-8", "strict")?;
    Ok(Some(line.replace("\r\n", "\n")))
}

/// Reads more; returns whether the line is complete, or the input has ended.
fn read_more(vm: &mut Vm) -> Result<bool> {
    if vm.input.given.is_none() && BUFFERED.load(Ordering::Relaxed) == 0 {
        blocking::wait(libc::STDIN_FILENO, libc::POLLIN)?;
    }
    let Input { given, begun } = &mut vm.input;
    let read = match given {
        Some(reader) => read_buffer(&mut **reader, begun).map(|(is_end, _)| is_end),
        None => read_buffer(&mut io::stdin().lock(), begun).map(|(is_end, n_left)| {
            BUFFERED.store(n_left, Ordering::Relaxed);
            is_end
        }),
    };
    match read {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => vm.poll_now().map(|()| false),
        read => read.map_err(|error| os_error(&error, None)),
    }
}

/// Takes the buffered part of a line: whether it includes the end, and how many bytes remain in the buffer.
fn read_buffer(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<(bool, usize)> {
    let buffer = reader.fill_buf()?;
    let end = buffer.iter().position(|byte| *byte == b'\n');
    let n_taken = end.map_or(buffer.len(), |end| end + 1);
    let read = (end.is_some() || buffer.is_empty(), buffer.len() - n_taken);
    line.extend_from_slice(&buffer[..n_taken]);
    reader.consume(n_taken);
    Ok(read)
}
