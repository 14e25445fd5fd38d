//! Corrects line information: naga emits too few or too many lines of statements, and none of variables.

use kps_syntax::Source;
use naga::{AddressSpace, Arena, GlobalVariable, LocalVariable, Module};
use rustc_hash::FxHashMap;

use crate::words::{HEADER_WORDS, instructions, string, text};

const OP_SOURCE: u32 = 3;
const OP_NAME: u32 = 5;
const OP_LINE: u32 = 8;
const OP_FUNCTION: u32 = 54;
const OP_VARIABLE: u32 = 59;
const OP_LABEL: u32 = 248;
const OP_NO_LINE: u32 = 317;

/// The prefix of a name that encodes where its variable is declared.
const PLACE: &str = "kps.at ";

/// Encodes in the names of an invocation's variables where they are declared.
pub(crate) fn encode_variable_lines(source: &Source, module: &mut Module) {
    let is_own = |variable: &GlobalVariable| variable.space == AddressSpace::Private;
    note(source, &mut module.global_variables, |one| is_own(one).then_some(&mut one.name));
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        note(source, &mut function.local_variables, |one: &mut LocalVariable| Some(&mut one.name));
    }
}

fn note<T>(source: &Source, arena: &mut Arena<T>, name: impl Fn(&mut T) -> Option<&mut Option<String>>) {
    let spans: Vec<naga::Span> = arena.iter().map(|(handle, _)| arena.get_span(handle)).collect();
    for ((_, variable), span) in arena.iter_mut().zip(spans).filter(|(_, span)| span.is_defined()) {
        let Some(name) = name(variable) else { continue };
        let place = span.location(source.text());
        let known = name.take().unwrap_or_default();
        *name = Some(format!("{PLACE}{} {} {known}", place.line_number, place.line_position));
    }
}

/// Decodes those names: emits a line before each such variable, whose initial value is stored there, and
/// restores its name.
pub(crate) fn emit_variable_lines(words: Vec<u32>) -> Vec<u32> {
    let mut written = words[..HEADER_WORDS].to_vec();
    let mut places: FxHashMap<u32, [u32; 2]> = FxHashMap::default();
    let mut file = 0;
    for instruction in instructions(&words) {
        match (instruction[0] & 0xffff, instruction) {
            (OP_SOURCE, [_, _, _, id, ..]) => file = *id,
            (OP_NAME, [_, id, name @ ..]) => {
                if let Some((place, name)) = placed(&string(name)) {
                    places.insert(*id, place);
                    let name = if name.is_empty() { Vec::new() } else { text(name) };
                    if !name.is_empty() {
                        written.extend([(2 + name.len() as u32) << 16 | OP_NAME, *id]);
                        written.extend(name);
                    }
                    continue;
                }
            }
            (OP_VARIABLE, [_, _, id, ..]) => {
                if let Some([line, column]) = places.get(id) {
                    written.extend([4 << 16 | OP_LINE, file, *line, *column]);
                    written.extend(instruction);
                    written.push(1 << 16 | OP_NO_LINE);
                    continue;
                }
            }
            _ => {}
        }
        written.extend(instruction);
    }
    written
}

/// The place that a name encodes, and the original name.
fn placed(name: &str) -> Option<([u32; 2], &str)> {
    let mut parts = name.strip_prefix(PLACE)?.splitn(3, ' ');
    let line = parts.next()?.parse().ok()?;
    let column = parts.next()?.parse().ok()?;
    Some(([line, column], parts.next()?))
}

/// Drops the lines of instructions without a known place. naga gives them line 1, which has no statement.
///
/// An instruction without a line belongs to the line before it.
pub(crate) fn strip_unknown(words: Vec<u32>) -> Vec<u32> {
    let is_known =
        |instruction: &&[u32]| !matches!(instruction, [first, _, 1, 1] if first & 0xffff == OP_LINE);
    let kept = instructions(&words).filter(is_known);
    words[..HEADER_WORDS].iter().chain(kept.flatten()).copied().collect()
}

/// Repeats the line of a statement in each of its blocks. A line ends with its block, and naga's index tests
/// start other blocks amid a statement.
pub(crate) fn carry_on(words: Vec<u32>) -> Vec<u32> {
    let mut carried = words[..HEADER_WORDS].to_vec();
    let mut line: &[u32] = &[];
    for instruction in instructions(&words) {
        carried.extend(instruction);
        match instruction[0] & 0xffff {
            OP_FUNCTION => line = &[],
            OP_LINE => line = instruction,
            OP_LABEL => carried.extend(line),
            _ => {}
        }
    }
    carried
}
