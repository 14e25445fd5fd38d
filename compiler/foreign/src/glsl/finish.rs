//! Rewrites glslang's debug information: the text's name, the text itself, the names of functions, and the
//! lines.
//!
//! glslang emits the preprocessed text without a name, so that part is rewritten. Its lines have no columns:
//! each gets the column of its first letter.
//!
//! Two results of glslang are corrected as well: the entry point is called `main`, and prefix sums of waves
//! are exclusive.

use kps_syntax::Source;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ENTRY_POINT;
use crate::Language;
use crate::words::{BOUND, HEADER_WORDS, instructions, string, text};

const OP_SOURCE_CONTINUED: u32 = 2;
const OP_SOURCE: u32 = 3;
const OP_SOURCE_EXTENSION: u32 = 4;
const OP_NAME: u32 = 5;
const OP_MEMBER_NAME: u32 = 6;
const OP_STRING: u32 = 7;
const OP_LINE: u32 = 8;
const OP_ENTRY_POINT: u32 = 15;
const OP_MODULE_PROCESSED: u32 = 330;
const OP_GROUP_NON_UNIFORM_I_ADD: u32 = 349;
const OP_GROUP_NON_UNIFORM_F_MUL: u32 = 352;

const INCLUSIVE_SCAN: u32 = 1;
const EXCLUSIVE_SCAN: u32 = 2;

const LANGUAGE_GLSL: u32 = 2;
const LANGUAGE_HLSL: u32 = 5;

/// Bytes of text in one instruction, which has at most 65,535 words.
const PART: usize = 240_000;

pub(super) fn finish(
    words: &[u32],
    source: &Source,
    headers: &FxHashMap<String, Source>,
    language: Language,
) -> Vec<u32> {
    let mut finished = words[..HEADER_WORDS].to_vec();
    let files_of_words = files_of(words);
    let mut files: FxHashMap<u32, &Source> = FxHashMap::default();
    let mut has_sources = false;
    for instruction in instructions(words) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_SOURCE_CONTINUED | OP_SOURCE | OP_SOURCE_EXTENSION | OP_MODULE_PROCESSED, _) => {}
            (OP_STRING, [_, id, name @ ..]) if files_of_words.contains(id) => {
                let name = string(name);
                let file = headers.get(&name).unwrap_or(source);
                files.insert(*id, file);
                push(&mut finished, OP_STRING, &[&[*id], &text(file.name())[..]].concat());
            }
            (OP_NAME | OP_MEMBER_NAME, _) => {
                if !has_sources {
                    push_sources(&mut finished, &mut files, source, language);
                    has_sources = true;
                }
                name(&mut finished, instruction);
            }
            (OP_LINE, [_, file, line, _]) => {
                let column = files.get(file).map_or(1, |file| first_column(file, *line));
                push(&mut finished, OP_LINE, &[*file, *line, column]);
            }
            // Devices enter `main`, whatever name the text has for it.
            (OP_ENTRY_POINT, [_, model, function, rest @ ..]) => {
                let interface = &rest[text(&string(rest)).len()..];
                let operands = [&[*model, *function], &text(ENTRY_POINT)[..], interface].concat();
                push(&mut finished, OP_ENTRY_POINT, &operands);
            }
            // `WavePrefixSum` and `WavePrefixProduct` exclude the lane's own value, but glslang includes it.
            (
                OP_GROUP_NON_UNIFORM_I_ADD..=OP_GROUP_NON_UNIFORM_F_MUL,
                [_, ty, id, scope, INCLUSIVE_SCAN, value],
            ) if language == Language::Hlsl => {
                let opcode = instruction[0] & 0xffff;
                push(&mut finished, opcode, &[*ty, *id, *scope, EXCLUSIVE_SCAN, *value]);
            }
            _ => finished.extend(instruction),
        }
    }
    finished
}

/// Whether an HLSL module enters the function of the text that has this name. glslang puts `@` before that
/// name.
/// It also emits a function that calls it, which is empty if the text does not define the function.
pub(super) fn enters(words: &[u32], function: &str) -> bool {
    let entered = format!("@{function}(");
    instructions(words).any(|instruction| match instruction {
        [first, _, name @ ..] => first & 0xffff == OP_NAME && string(name).starts_with(&entered),
        _ => false,
    })
}

/// The strings that name files. Other strings are formats of `debugPrintfEXT`.
fn files_of(words: &[u32]) -> FxHashSet<u32> {
    let file = |instruction: &[u32]| match (instruction[0] & 0xffff, instruction) {
        (OP_LINE, [_, file, ..]) | (OP_SOURCE, [_, _, _, file, ..]) => Some(*file),
        _ => None,
    };
    instructions(words).filter_map(file).collect()
}

/// The texts of all files that the module names.
fn push_sources(
    words: &mut Vec<u32>,
    files: &mut FxHashMap<u32, &Source>,
    source: &Source,
    language: Language,
) {
    let language = match language {
        Language::Hlsl => LANGUAGE_HLSL,
        _ => LANGUAGE_GLSL,
    };
    let mut all: Vec<(u32, Source)> = files.iter().map(|(id, file)| (*id, (*file).clone())).collect();
    all.sort_by_key(|(id, file)| (file.name() != source.name(), *id));
    for (id, file) in all {
        let mut parts = parts(file.text());
        let first = parts.next().unwrap_or("");
        push(words, OP_SOURCE, &[&[language, 450, id], &text(first)[..]].concat());
        for part in parts {
            push(words, OP_SOURCE_CONTINUED, &text(part));
        }
    }
    debug_assert!(words[BOUND] > 0);
}

/// Splits a text into parts, one for each instruction.
fn parts(mut rest: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut end = PART.min(rest.len());
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (part, behind) = rest.split_at(end);
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

/// A name. glslang appends the parameter types to names of functions: `f(f1;`.
fn name(words: &mut Vec<u32>, instruction: &[u32]) {
    match instruction {
        [first, id, name @ ..] if first & 0xffff == OP_NAME => {
            let name = string(name);
            let plain = name.split('(').next().unwrap_or_default();
            push(words, OP_NAME, &[&[*id], &text(plain)[..]].concat());
        }
        _ => words.extend(instruction),
    }
}

fn push(words: &mut Vec<u32>, opcode: u32, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | opcode);
    words.extend(operands);
}

fn first_column(file: &Source, line: u32) -> u32 {
    let text = file.line_text(line);
    (text.len() - text.trim_start().len()) as u32 + 1
}
