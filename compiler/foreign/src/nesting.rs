//! Bounds the nesting of brackets: naga recurses over them, so that too many would overflow its stack.

use kps_syntax::{Diagnostics, Source, Span};

use crate::errors;

const MAX_DEPTH: u32 = 128;

pub(crate) fn check(source: &Source) -> Result<(), Diagnostics> {
    let mut depth = 0_u32;
    for (at, byte) in source.text().bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth > MAX_DEPTH {
            let span = Span::new(at as u32, at as u32 + 1);
            return Err(errors::too_deep(source.at(span), MAX_DEPTH).into());
        }
    }
    Ok(())
}
