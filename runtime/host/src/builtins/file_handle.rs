//! An open file behind its buffers, and how its bytes are text.
//!
//! Bytes go in and out; at most one of the two buffers is in use. `seek` and a change from reading to writing
//! flush both. A file whose encoding has several bytes a character is decoded as a whole at its first read.
//! No value of a script comes here, except the argument `newline`.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use super::encoding::{self, Units};
use super::support::str_arg;
use crate::blocking;
use crate::errors;
use crate::value::{Result, Value};

/// Bytes read at a time, and written at a time.
pub const BUFFER: usize = 64 * 1024;

/// How a file's bytes are text.
pub struct Text {
    pub encoding: String,
    pub units: Units,
    pub on_error: String,
    pub newline: Newline,
    /// Whether a byte order mark precedes the next write.
    pub is_mark_due: Cell<bool>,
}

/// The recognised line ends, and their translation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Newline {
    /// All of them, each read as `\n`.
    Translated,
    /// All of them, left as they are.
    Any,
    /// Exactly one. `\n` is written as it.
    Only(&'static str),
}

impl Newline {
    pub fn from_argument(value: Option<&Value>) -> Result<Newline> {
        let Some(value) = value else { return Ok(Newline::Translated) };
        Ok(match str_arg(value, "open", 6)? {
            "" => Newline::Any,
            "\n" => Newline::Only("\n"),
            "\r" => Newline::Only("\r"),
            "\r\n" => Newline::Only("\r\n"),
            other => {
                return Err(errors::value_error(format!("illegal newline value: {other}")));
            }
        })
    }
}

/// An open file and its buffers; at most one of the two holds bytes.
pub struct Handle {
    pub file: File,
    /// Bytes read ahead and not yet returned, from `at` on.
    ahead: Vec<u8>,
    at: usize,
    pub behind: Vec<u8>,
    /// The encoding of the file if `ahead` was decoded, and is UTF-8.
    decoded: Option<String>,
}

impl Handle {
    pub fn new(file: File) -> Handle {
        Handle { file, ahead: Vec::new(), at: 0, behind: Vec::new(), decoded: None }
    }

    pub fn write_out(&mut self) -> Result<()> {
        let mut n_written = 0;
        let ended = loop {
            let pending = &self.behind[n_written..];
            if pending.is_empty() {
                break Ok(());
            }
            match blocking::write_some(&mut self.file, pending) {
                Ok(Ok(n)) => n_written += n,
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // Bytes that the system refuses are lost; after an interrupt the rest may still be written.
                Ok(Err(error)) => {
                    n_written = self.behind.len();
                    break Err(error.into());
                }
                Err(raise) => break Err(raise),
            }
        };
        self.behind.drain(..n_written);
        ended
    }

    pub fn is_seekable(&mut self) -> bool {
        self.file.stream_position().is_ok()
    }

    /// Drops what was read ahead, and seeks to the reader's position.
    pub fn forget_ahead(&mut self) -> Result<()> {
        let n_left = self.n_waiting();
        self.ahead.clear();
        self.at = 0;
        if n_left > 0 {
            self.file.seek(SeekFrom::Current(-(n_left as i64)))?;
        }
        Ok(())
    }

    /// Bytes of the file that were read and not returned.
    pub fn n_waiting(&self) -> usize {
        let waiting = &self.ahead[self.at..];
        match (&self.decoded, std::str::from_utf8(waiting)) {
            (Some(encoding), Ok(text)) => {
                encoding::encode(text, encoding, "replace").map_or(0, |bytes| bytes.len())
            }
            _ => waiting.len(),
        }
    }

    /// Reads the rest of a file in a wide encoding, which then waits as UTF-8.
    pub fn decode_rest(&mut self, text: &Text) -> Result<()> {
        if self.decoded.is_some() && self.at < self.ahead.len() {
            return Ok(());
        }
        let is_start = self.file.stream_position().is_ok_and(|position| position == 0);
        let rest = self.read_all()?;
        let encoding = if is_start { &text.encoding } else { encoding::unmarked(&text.encoding) };
        self.ahead = encoding::decode(&rest, encoding, &text.on_error)?.into_bytes();
        self.at = 0;
        self.decoded = Some(encoding::unmarked(&text.encoding).to_owned());
        Ok(())
    }

    /// Moves the file to where the script is: writes what waits, and drops what was read ahead.
    pub fn synchronise(&mut self) -> Result<()> {
        self.write_out()?;
        self.forget_ahead()
    }

    /// Reads more bytes after the waiting ones; false at the end of the file.
    fn read_more(&mut self) -> Result<bool> {
        self.write_out()?;
        self.ahead.drain(..self.at);
        self.at = 0;
        Ok(blocking::read_some(&mut self.file, &mut self.ahead, BUFFER)?? > 0)
    }

    fn take(&mut self, n_bytes: usize) -> Vec<u8> {
        let end = (self.at + n_bytes).min(self.ahead.len());
        let taken = self.ahead[self.at..end].to_vec();
        self.at = end;
        taken
    }

    /// The rest of the file. After an interrupt, the bytes read so far remain for the next reader.
    pub fn read_all(&mut self) -> Result<Vec<u8>> {
        self.write_out()?;
        self.ahead.drain(..self.at);
        self.at = 0;
        blocking::read_rest(&mut self.file, &mut self.ahead)??;
        Ok(std::mem::take(&mut self.ahead))
    }

    pub fn read_some(&mut self, n_bytes: usize) -> Result<Vec<u8>> {
        while self.ahead.len() - self.at < n_bytes && self.read_more()? {}
        Ok(self.take(n_bytes))
    }

    /// The next line with its end, or as much of it as `most` allows.
    pub fn read_line(&mut self, newline: Newline, most: usize) -> Result<Vec<u8>> {
        let (end, takes_both) = match newline {
            Newline::Translated | Newline::Any => (b'\n', true),
            Newline::Only("\r") => (b'\r', false),
            Newline::Only(_) => (b'\n', false),
        };
        let needs_both = newline == Newline::Only("\r\n");
        let mut searched = 0;
        loop {
            let waiting = &self.ahead[self.at..];
            let is_end = |at: usize| {
                let byte = waiting[at];
                byte == end && (!needs_both || at > 0 && waiting[at - 1] == b'\r')
                    || takes_both && byte == b'\r'
            };
            if let Some(found) = (searched..waiting.len()).find(|&at| is_end(at)) {
                // A `\r` at the end of the buffer may be the first half of a pair.
                let may_go_on = takes_both && waiting[found] == b'\r' && found + 1 == waiting.len();
                if !may_go_on || !self.read_more()? {
                    let is_pair = takes_both && self.ahead[self.at..][found..].starts_with(b"\r\n");
                    return Ok(self.take((found + 1 + is_pair as usize).min(most)));
                }
                continue;
            }
            searched = waiting.len();
            if searched >= most || !self.read_more()? {
                return Ok(self.take(searched.min(most)));
            }
        }
    }

    /// `n_chars` characters, or as many as remain.
    pub fn read_chars(&mut self, n_chars: usize, units: Units, newline: Newline) -> Result<Vec<u8>> {
        let mut n_bytes = 0;
        for _ in 0..n_chars {
            // The first byte of a UTF-8 character determines its length.
            if self.ahead.len() - self.at < n_bytes + 4
                && !self.read_more()?
                && self.ahead.len() - self.at <= n_bytes
            {
                break;
            }
            let is_pair = self.ahead[self.at + n_bytes..].starts_with(b"\r\n");
            n_bytes += match self.ahead[self.at + n_bytes] {
                0xf0.. if units != Units::Narrow => 4,
                0xe0.. if units != Units::Narrow => 3,
                0xc0.. if units != Units::Narrow => 2,
                b'\r' if newline == Newline::Translated && is_pair => 2,
                _ => 1,
            };
        }
        Ok(self.take(n_bytes))
    }

    /// Moves to a place of the file, where its encoding starts anew; returns the place.
    pub fn seek(&mut self, target: SeekFrom) -> Result<u64> {
        self.synchronise()?;
        self.decoded = None;
        Ok(self.file.seek(target)?)
    }
}
