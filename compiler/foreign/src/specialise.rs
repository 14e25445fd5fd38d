//! Specialisation constants, which naga can read and cannot write.
//!
//! Before naga writes the words, each constant is made a plain one whose value occurs nowhere else; in the
//! words, that value is found again and turned into a specialisation constant. Booleans, and constants that
//! types or other constants are made of, keep their defaults, and so do all beside them, which the words say of each.

use naga::{Constant, Expression, Handle, Literal, Module, Override};
use rustc_hash::FxHashSet;

use crate::words::{HEADER_WORDS, instructions};

const OP_DECORATE: u32 = 71;
const OP_CONSTANT: u32 = 43;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_MODULE_PROCESSED: u32 = 330;
const DECORATION_SPEC_ID: u32 = 1;

/// What a text begins with that says why a constant cannot be specialised; devices find it by this.
const SETTLED: &str = "kps.settled ";

/// Values that no text is likely to hold: about 7e37 as floats, far from round numbers as integers.
const FIRST_MARK: u32 = 0x7e5a_c301;

/// The specialisation constants of a module.
#[derive(Default)]
pub(crate) struct Constants {
    hidden: Vec<Hidden>,
    /// Names of those that keep their defaults, each with the reason.
    settled: Vec<String>,
}

/// A specialisation constant in hiding.
struct Hidden {
    id: u32,
    mark: u32,
    default: u32,
}

/// Hides the constants that can be specialised.
pub(crate) fn take_constants(module: &mut Module) -> Constants {
    let fixed = part_of_others(module);
    let overrides: Vec<(Handle<Override>, Override)> =
        module.overrides.iter().map(|(handle, one)| (handle, one.clone())).collect();
    let (mut hidden, mut settled) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for ((handle, constant), id) in overrides.iter().zip(ids(&overrides)) {
        let name = constant.name.clone().unwrap_or_else(|| format!("id {id}"));
        let mark = FIRST_MARK + hidden.len() as u32;
        match literals(module, constant, mark) {
            _ if fixed.contains(handle) => settled.push(format!(
                "`{name}` keeps its default: the length of an array, the size of a workgroup or another constant is \
                 made of it"
            )),
            None => {
                settled.push(format!("`{name}` keeps its default: only `f32`, `i32` and `u32` can be given here"));
            }
            Some((literal, default)) => {
                hidden.push(Hidden { id, mark, default });
                found.push((name, *handle, constant.clone(), literal));
            }
        }
    }
    // naga puts the defaults of some in and works out what follows from them, from the marks as well.
    if !settled.is_empty() {
        let beside = |(name, ..): &(String, _, _, _)| {
            format!("`{name}` keeps its default, as all constants do beside one that cannot be given")
        };
        settled.extend(found.iter().map(beside));
        return Constants { hidden: Vec::new(), settled };
    }
    for (_, handle, constant, literal) in found {
        hide(module, handle, constant, literal);
    }
    Constants { hidden, settled }
}

/// Makes a plain constant of one.
fn hide(module: &mut Module, handle: Handle<Override>, constant: Override, literal: Literal) {
    let init = module.global_expressions.append(Expression::Literal(literal), naga::Span::UNDEFINED);
    let plain = Constant { name: constant.name, ty: constant.ty, init };
    let plain = module.constants.append(plain, naga::Span::UNDEFINED);
    replace(module, handle, plain);
}

/// The id of each constant; those that the text gives none get what is free, in order.
fn ids(overrides: &[(Handle<Override>, Override)]) -> Vec<u32> {
    let given: FxHashSet<u32> = overrides.iter().filter_map(|(_, one)| one.id).map(u32::from).collect();
    let mut free = (0..).filter(|id| !given.contains(id));
    let id = |one: &Override| match one.id {
        Some(id) => Some(u32::from(id)),
        None => free.next(),
    };
    overrides.iter().map(|(_, one)| one).filter_map(id).collect()
}

/// Constants that types or other constants are made of; for all others, it is functions alone that use them.
fn part_of_others(module: &Module) -> FxHashSet<Handle<Override>> {
    let in_globals = module.global_expressions.iter().filter_map(|(_, one)| match one {
        Expression::Override(handle) => Some(*handle),
        _ => None,
    });
    let in_types = module.types.iter().filter_map(|(_, ty)| match ty.inner {
        naga::TypeInner::Array { size: naga::ArraySize::Pending(handle), .. } => Some(handle),
        _ => None,
    });
    in_globals.chain(in_types).collect()
}

/// The mark as a value of the constant's type, and the bits of its default.
fn literals(module: &Module, constant: &Override, mark: u32) -> Option<(Literal, u32)> {
    let Expression::Literal(default) = module.global_expressions[constant.init?] else { return None };
    match default {
        Literal::F32(value) => Some((Literal::F32(f32::from_bits(mark)), value.to_bits())),
        Literal::I32(value) => Some((Literal::I32(mark as i32), value as u32)),
        Literal::U32(value) => Some((Literal::U32(mark), value)),
        _ => None,
    }
}

fn replace(module: &mut Module, from: Handle<Override>, to: Handle<Constant>) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    for function in functions.chain(entries) {
        for (_, expression) in function.expressions.iter_mut() {
            if *expression == Expression::Override(from) {
                *expression = Expression::Constant(to);
            }
        }
    }
}

impl Constants {
    /// Words in which the hidden constants can be specialised, and which say why the others cannot.
    pub(crate) fn mark(&self, words: Vec<u32>) -> Vec<u32> {
        if self.hidden.is_empty() && self.settled.is_empty() {
            return words;
        }
        let (mut body, mut decorations): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        // What says how the module came about goes before all decorations, and these go before the first type.
        let (mut first_decoration, mut first_type) = (None, None);
        for instruction in instructions(&words) {
            let opcode = instruction[0] & 0xffff;
            if is_decoration(opcode) || is_declaration(opcode) {
                first_decoration.get_or_insert(body.len());
            }
            if is_declaration(opcode) {
                first_type.get_or_insert(body.len());
            }
            let marked = match instruction {
                [_, _, _, value] if opcode == OP_CONSTANT => {
                    self.hidden.iter().find(|one| one.mark == *value)
                }
                _ => None,
            };
            match marked {
                Some(one) => {
                    let (ty, result) = (instruction[1], instruction[2]);
                    body.extend([4 << 16 | OP_SPEC_CONSTANT, ty, result, one.default]);
                    decorations.extend([4 << 16 | OP_DECORATE, result, DECORATION_SPEC_ID, one.id]);
                }
                None => body.extend(instruction),
            }
        }
        let (notes, types) = (first_decoration.unwrap_or(body.len()), first_type.unwrap_or(body.len()));
        let reasons: Vec<u32> = self.settled.iter().flat_map(|reason| note(reason)).collect();
        let header = &words[..HEADER_WORDS];
        [header, &body[..notes], &reasons, &body[notes..types], &decorations, &body[types..]].concat()
    }
}

/// An instruction that says something to people and tools.
fn note(reason: &str) -> Vec<u32> {
    let mut bytes = format!("{SETTLED}{reason}").into_bytes();
    // A text ends with a 0, and fills whole words.
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    let text = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let length = (bytes.len() / 4 + 1) as u32;
    std::iter::once(length << 16 | OP_MODULE_PROCESSED).chain(text).collect()
}

/// `OpDecorate` to `OpGroupMemberDecorate`.
fn is_decoration(opcode: u32) -> bool {
    (71..=75).contains(&opcode)
}

/// `OpTypeVoid` to `OpTypeForwardPointer`, and constants.
fn is_declaration(opcode: u32) -> bool {
    (19..=39).contains(&opcode) || (41..=52).contains(&opcode)
}
