//! The embedded sources of a module (`OpSource`), which tools add for debugging.
//!
//! The input is an unchecked binary. A malformed source is skipped, and nothing here fails.

use rspirv::spirv::Op;

use super::parse::in_host_order;

const HEADER_WORDS: usize = 5;

/// A source and its file name, to which the lines of the module (`OpLine`) refer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub file: String,
    pub text: String,
}

/// Every named source of a module.
pub fn source_texts(words: &[u32]) -> Vec<SourceText> {
    let words = in_host_order(words);
    let mut names: Vec<(u32, String)> = Vec::new();
    let mut texts: Vec<(u32, Vec<u8>)> = Vec::new();
    for (op, operands) in before_names(&words) {
        match (op, operands) {
            (Op::String, [id, name @ ..]) => names.push((*id, utf8(bytes(name)))),
            (Op::Source, [_, _, file, text @ ..]) => texts.push((*file, bytes(text))),
            (Op::SourceContinued, more) => {
                if let Some((_, text)) = texts.last_mut() {
                    text.extend(bytes(more));
                }
            }
            _ => {}
        }
    }
    let named = |(id, text): (u32, Vec<u8>)| {
        let (_, file) = names.iter().find(|(known, _)| *known == id)?;
        (!text.is_empty()).then(|| SourceText { file: file.clone(), text: utf8(text) })
    };
    texts.into_iter().filter_map(named).collect()
}

/// The instructions that come before the first name, decoration or type, with their operands.
fn before_names(words: &[u32]) -> impl Iterator<Item = (Op, &[u32])> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let op = Op::from_u32(first & 0xffff)?;
        let (instruction, after) = rest.split_at_checked((first >> 16) as usize)?;
        rest = after;
        let is_before = matches!(
            op,
            Op::Capability
                | Op::Extension
                | Op::ExtInstImport
                | Op::MemoryModel
                | Op::EntryPoint
                | Op::ExecutionMode
                | Op::ExecutionModeId
                | Op::String
                | Op::Source
                | Op::SourceContinued
                | Op::SourceExtension
        );
        is_before.then_some((op, instruction.get(1..)?))
    })
}

/// The bytes of a string literal, without its final zero.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect()
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u32], expect: &[(&str, &str)]) {
        let words: Vec<u32> = [0x0723_0203, 0x0001_0500, 0, 9, 0].iter().chain(body).copied().collect();
        let found = source_texts(&words);
        let found: Vec<(&str, &str)> = found.iter().map(|one| (&*one.file, &*one.text)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn texts_come_with_their_names() {
        let word = |text: &str| u32::from_le_bytes(*text.as_bytes().first_chunk().expect("four letters"));
        let (name, one, two) = (word("a.c\0"), word("line"), word("s\0\0\0"));
        let file = [3 << 16 | 7, 4, name];
        let source = [5 << 16 | 3, 0, 0, 4, one];
        check(&[&file[..], &source, &[2 << 16 | 2, two]].concat(), &[("a.c", "lines")]);
        check(&source, &[]);
        check(&[3 << 16 | 7, 4], &[]);
        check(&[0], &[]);
        // Sources come before the names, so the search ends there.
        check(&[&file[..], &[3 << 16 | 5, 4, name], &source].concat(), &[]);
    }
}
