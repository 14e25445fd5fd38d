//! Names of blocks. naga wraps a block whose length is known in a struct of its own, which has no name. A block of GLSL
//! whose variable has none either is known by the name of its type, so the wrapper comes to be called what it wraps.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::{HEADER_WORDS, instructions};

const OP_NAME: u32 = 5;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_VARIABLE: u32 = 59;

const UNIFORM: u32 = 2;
const STORAGE_BUFFER: u32 = 12;

/// The words with such names: all names stand before what they are of.
pub(crate) fn name(words: Vec<u32>) -> Vec<u32> {
    let wrappers = wrappers(&words);
    if wrappers.is_empty() {
        return words;
    }
    let mut named = words[..HEADER_WORDS].to_vec();
    for instruction in instructions(&words) {
        named.extend(instruction);
        if let [first, id, name @ ..] = instruction
            && first & 0xffff == OP_NAME
            && let Some(wrapper) = wrappers.get(id)
        {
            named.extend([*first, *wrapper]);
            named.extend(name);
        }
    }
    named
}

/// The wrappers of variables where neither has a name, by what each wraps.
fn wrappers(words: &[u32]) -> FxHashMap<u32, u32> {
    let mut named: FxHashSet<u32> = FxHashSet::default();
    let (mut wrapped, mut pointees) = (FxHashMap::default(), FxHashMap::default());
    let mut found = FxHashMap::default();
    for instruction in instructions(words) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_NAME, [_, id, ..]) => {
                named.insert(*id);
            }
            (OP_TYPE_STRUCT, [_, id, only]) if !named.contains(id) => {
                wrapped.insert(*id, *only);
            }
            (OP_TYPE_POINTER, [_, id, _, pointee]) => {
                pointees.insert(*id, *pointee);
            }
            (OP_VARIABLE, [_, pointer, id, UNIFORM | STORAGE_BUFFER, ..]) if !named.contains(id) => {
                let wrapper = pointees.get(pointer);
                found.extend(wrapper.and_then(|wrapper| Some((*wrapped.get(wrapper)?, *wrapper))));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use kps_syntax::Source;

    use super::*;
    use crate::words::string;
    use crate::{Language, Options, compile};

    /// The names of what variables of buffers and uniforms point to.
    fn blocks(text: &str) -> Vec<String> {
        let source = Source::new("blocks.comp", text);
        let words = compile(&source, Language::Glsl, &Options::default()).expect("it compiles");
        let (mut names, mut pointees) = (FxHashMap::default(), FxHashMap::default());
        let mut blocks = Vec::new();
        for instruction in instructions(&words) {
            match (instruction[0] & 0xffff, instruction) {
                (OP_NAME, [_, id, name @ ..]) => {
                    names.insert(*id, string(name));
                }
                (OP_TYPE_POINTER, [_, id, _, pointee]) => {
                    pointees.insert(*id, *pointee);
                }
                (OP_VARIABLE, [_, pointer, _, UNIFORM | STORAGE_BUFFER, ..]) => {
                    let name = pointees.get(pointer).and_then(|pointee| names.get(pointee));
                    blocks.push(name.cloned().unwrap_or_default());
                }
                _ => {}
            }
        }
        blocks
    }

    #[test]
    fn blocks_are_named_whether_their_length_is_known_or_not() {
        let text = "#version 450
            layout(local_size_x = 1) in;
            layout(binding = 0) buffer A { float a[]; };
            layout(binding = 1) buffer B { float b[4]; };
            layout(binding = 2) uniform C { float c; };
            void main() { a[0] = b[1] + c; }";
        assert_eq!(blocks(text), ["A", "B", "C"]);
    }
}
