//! Interruptible reads and writes of files that may block or never end: pipes, terminals, devices.
//!
//! A wait ends when the host that runs on this thread is interrupted. Memory is checked before it is filled.
//! The outer result is an interrupt; the inner one is the system's.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use crate::memory;
use crate::value::Result;
use crate::vm::checkpoint;

/// How long a wait may last before it polls for interrupts.
const NAP: Duration = Duration::from_millis(20);

/// Bytes that are read at a time into a growing buffer.
const CHUNK: usize = 256 * 1024;

/// Bytes that are written at a time.
const SLICE: usize = 1024 * 1024;

/// Opens a file. To open a named pipe for writing waits for its reader.
pub fn open(path: &Path, options: &OpenOptions) -> Result<io::Result<File>> {
    let mut options = options.clone();
    options.custom_flags(libc::O_NONBLOCK);
    loop {
        match options.open(path) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) && is_pipe(path) => {
                checkpoint()?;
                std::thread::sleep(NAP);
            }
            opened => return Ok(opened.inspect(let_it_block)),
        }
    }
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// Clears the non-blocking flag that only opening needs.
fn let_it_block(file: &File) {
    let number = file.as_raw_fd();
    // SAFETY: the descriptor is open, and the calls access no memory of this process.
    unsafe {
        let flags = libc::fcntl(number, libc::F_GETFL);
        if flags >= 0 {
            libc::fcntl(number, libc::F_SETFL, flags & !libc::O_NONBLOCK);
        }
    }
}

/// Waits until a descriptor can be read (`POLLIN`) or written (`POLLOUT`), has ended or failed.
pub fn wait(descriptor: RawFd, events: libc::c_short) -> Result<()> {
    let mut asked = libc::pollfd { fd: descriptor, events, revents: 0 };
    loop {
        checkpoint()?;
        // SAFETY: it points to one descriptor, which lives until the call returns.
        let n_ready = unsafe { libc::poll(&mut asked, 1, NAP.as_millis() as libc::c_int) };
        // If waiting for it is impossible, the read or write itself reports why.
        if n_ready > 0 || (n_ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted) {
            return Ok(());
        }
    }
}

/// Whether a descriptor accepts some bytes now.
pub fn is_ready_to_write(descriptor: RawFd) -> bool {
    let mut asked = libc::pollfd { fd: descriptor, events: libc::POLLOUT, revents: 0 };
    // SAFETY: it points to one descriptor, which lives until the call returns.
    unsafe { libc::poll(&mut asked, 1, 0) != 0 }
}

fn is_regular(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Appends at most `most` bytes, as many as are available now. None are at the end of the file.
pub fn read_some(file: &mut File, bytes: &mut Vec<u8>, most: usize) -> Result<io::Result<usize>> {
    memory::make_more_room(bytes, most)?;
    wait(file.as_raw_fd(), libc::POLLIN)?;
    let n_before = bytes.len();
    bytes.resize(n_before + most, 0);
    let n_read = file.read(&mut bytes[n_before..]);
    bytes.truncate(n_before + *n_read.as_ref().unwrap_or(&0));
    Ok(n_read)
}

/// Reads to the end of a file, and appends to `bytes`.
pub fn read_rest(file: &mut File, bytes: &mut Vec<u8>) -> Result<io::Result<()>> {
    loop {
        match read_some(file, bytes, CHUNK)? {
            Ok(0) => return Ok(Ok(())),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Appends `n` bytes of a file, or those up to its end.
pub fn read_up_to(file: &mut File, bytes: &mut Vec<u8>, n: usize) -> Result<io::Result<()>> {
    memory::make_more_room(bytes, n)?;
    let end = bytes.len() + n;
    while bytes.len() < end {
        match read_some(file, bytes, CHUNK.min(end - bytes.len()))? {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}

/// The content of a file.
pub fn read_file(path: &Path) -> Result<io::Result<Vec<u8>>> {
    let mut file = match open(path, OpenOptions::new().read(true))? {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    let mut bytes = Vec::new();
    Ok(read_rest(&mut file, &mut bytes)?.map(|()| bytes))
}

/// Writes the first of `bytes`, as many as the system accepts at once.
pub fn write_some(file: &mut File, bytes: &[u8]) -> Result<io::Result<usize>> {
    wait(file.as_raw_fd(), libc::POLLOUT)?;
    // A pipe that is ready accepts this many bytes without blocking.
    let most = if is_regular(file) { SLICE } else { libc::PIPE_BUF };
    Ok(file.write(&bytes[..bytes.len().min(most)]))
}

/// Creates or replaces a whole file.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<io::Result<()>> {
    write_pieces(path, &[bytes])
}

/// Creates or replaces a whole file, whose content is in pieces.
pub fn write_pieces(path: &Path, pieces: &[&[u8]]) -> Result<io::Result<()>> {
    let mut file = match create(path)? {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    for piece in pieces {
        if let Err(error) = write_all(&mut file, piece)? {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Creates a file, or empties it.
pub fn create(path: &Path) -> Result<io::Result<File>> {
    open(path, OpenOptions::new().write(true).create(true).truncate(true))
}

fn write_all(file: &mut File, bytes: &[u8]) -> Result<io::Result<()>> {
    let mut n_written = 0;
    while n_written < bytes.len() {
        match write_some(file, &bytes[n_written..])? {
            Ok(n) => n_written += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}
