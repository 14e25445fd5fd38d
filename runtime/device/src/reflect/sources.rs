//! The texts that a module brings along (`OpSource`), which tools write so that its lines can be shown.
//!
//! In go words that nobody has checked; what is broken in them has no text, and nothing here fails.

use rspirv::spirv::Op;

use super::parse::in_host_order;

const HEADER_WORDS: usize = 5;

/// A text with the name of its file, by which the lines of the module (`OpLine`) know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    pub file: String,
    pub text: String,
}

/// Every text of a module that has a name.
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
        let (instruction, behind) = rest.split_at_checked((first >> 16) as usize)?;
        rest = behind;
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

/// A literal's bytes, up to the zero that ends it.
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
        // Nothing is looked for behind the names.
        check(&[&file[..], &[3 << 16 | 5, 4, name], &source].concat(), &[]);
    }
}
