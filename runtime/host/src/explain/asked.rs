//! The line to explain: `6`, or `helpers.kps:6` for a module whose functions a kernel calls.

use std::path::Path;
use std::str::FromStr;

use kps_syntax::Source;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedLine {
    /// The last parts of the file's path; `None` for the kernel's file.
    pub file: Option<String>,
    pub line: u32,
}

impl AskedLine {
    /// Whether it is a line of this source, given that the kernel is in `home`.
    pub fn is_of(&self, source: &Source, home: &Source) -> bool {
        match &self.file {
            None => source == home,
            Some(file) => Path::new(source.name()).ends_with(file),
        }
    }
}

impl From<u32> for AskedLine {
    fn from(line: u32) -> AskedLine {
        AskedLine { file: None, line }
    }
}

impl FromStr for AskedLine {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<AskedLine, &'static str> {
        let (file, line) = match text.rsplit_once(':') {
            Some((file, line)) => (Some(file.to_owned()), line),
            None => (None, text),
        };
        let line =
            line.parse().map_err(|_| "write the number of a line, 6, or of another file, helpers.kps:6")?;
        Ok(AskedLine { file, line })
    }
}
