//! Converts SPIR-V between bytes and 32-bit words.

use crate::error::{ComputeError, Result};

/// The first word of every module.
pub const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;

/// The words of a module from its bytes, in either byte order.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<u32>> {
    if !bytes.len().is_multiple_of(4) {
        return Err(not_spirv(format!("{} bytes are not whole 32-bit words", bytes.len())));
    }
    let words =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(*word.first_chunk().expect("four bytes")));
    let mut words: Vec<u32> = words.collect();
    if words.first() == Some(&MAGIC.swap_bytes()) {
        words.iter_mut().for_each(|word| *word = word.swap_bytes());
    }
    check(&words)?;
    Ok(words)
}

/// The bytes of a module, in the byte order of files.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Checks the header of a module. The device checks the rest.
pub(crate) fn check(words: &[u32]) -> Result<()> {
    match words.first() {
        None => Err(not_spirv("it is empty".to_owned())),
        Some(&MAGIC) if words.len() < HEADER_WORDS => {
            Err(not_spirv(format!("it ends within the header, which has {HEADER_WORDS} words")))
        }
        Some(&MAGIC) => Ok(()),
        Some(word) => Err(not_spirv(format!("it begins with {word:#010x}, a module with {MAGIC:#010x}"))),
    }
}

fn not_spirv(reason: String) -> ComputeError {
    ComputeError::NotSpirv { reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_bytes(bytes: &[u8], expect: std::result::Result<usize, &str>) {
        let found = from_bytes(bytes).map(|words| words.len()).map_err(|error| error.to_string());
        assert_eq!(found, expect.map_err(str::to_owned));
    }

    #[test]
    fn only_modules_pass() {
        let header = to_bytes(&[MAGIC, 0x0001_0500, 0, 1, 0]);
        let swapped: Vec<u8> = header.chunks(4).flat_map(|word| word.iter().rev()).copied().collect();
        check_bytes(&header, Ok(5));
        check_bytes(&swapped, Ok(5));
        check_bytes(b"", Err("not a SPIR-V module: it is empty"));
        check_bytes(
            b"#version",
            Err("not a SPIR-V module: it begins with 0x72657623, a module with 0x07230203"),
        );
        check_bytes(b"spirv", Err("not a SPIR-V module: 5 bytes are not whole 32-bit words"));
        check_bytes(&header[..8], Err("not a SPIR-V module: it ends within the header, which has 5 words"));
    }
}
