//! Specialisation constants, which naga can read and cannot write.
//!
//! Before naga writes the words, each constant with an id is made a plain one whose value occurs nowhere
//! else; in the words, that value is found again and turned into a specialisation constant. Booleans, and
//! constants that types or other constants depend on, keep their defaults.

use naga::{Constant, Expression, Handle, Literal, Module, Override};

use crate::words::{HEADER_WORDS, instructions};

const OP_DECORATE: u32 = 71;
const OP_CONSTANT: u32 = 43;
const OP_SPEC_CONSTANT: u32 = 50;
const DECORATION_SPEC_ID: u32 = 1;

/// Values that no text is likely to hold: about 7e37 as floats, far from round numbers as integers.
const FIRST_MARK: u32 = 0x7e5a_c301;

/// A specialisation constant in hiding.
pub(crate) struct Hidden {
    id: u32,
    mark: u32,
    default: u32,
}

/// Hides the constants that can be specialised.
pub(crate) fn take_constants(module: &mut Module) -> Vec<Hidden> {
    if !is_simple(module) {
        return Vec::new();
    }
    let mut hidden = Vec::new();
    let overrides: Vec<(Handle<Override>, Override)> =
        module.overrides.iter().map(|(handle, one)| (handle, one.clone())).collect();
    for (handle, constant) in overrides {
        let mark = FIRST_MARK + hidden.len() as u32;
        let Some((literal, default)) = literals(module, &constant, mark) else { continue };
        let Some(id) = constant.id else { continue };
        let init = module.global_expressions.append(Expression::Literal(literal), naga::Span::UNDEFINED);
        let plain = Constant { name: constant.name, ty: constant.ty, init };
        let plain = module.constants.append(plain, naga::Span::UNDEFINED);
        replace(module, handle, plain);
        hidden.push(Hidden { id: id.into(), mark, default });
    }
    hidden
}

/// Whether constants are used in functions alone.
fn is_simple(module: &Module) -> bool {
    let in_globals = module.global_expressions.iter().any(|(_, one)| matches!(one, Expression::Override(_)));
    let in_types = module
        .types
        .iter()
        .any(|(_, ty)| matches!(ty.inner, naga::TypeInner::Array { size: naga::ArraySize::Pending(_), .. }));
    let in_sizes = module.entry_points.iter().any(|entry| entry.workgroup_size_overrides.is_some());
    !(in_globals || in_types || in_sizes)
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

/// Words in which the hidden constants can be specialised.
pub(crate) fn mark(words: Vec<u32>, hidden: &[Hidden]) -> Vec<u32> {
    if hidden.is_empty() {
        return words;
    }
    let (mut body, mut decorations): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    // Decorations go before the first type.
    let mut first_type = None;
    for instruction in instructions(&words) {
        let opcode = instruction[0] & 0xffff;
        if first_type.is_none() && is_declaration(opcode) {
            first_type = Some(body.len());
        }
        let marked = match instruction {
            [_, _, _, value] if opcode == OP_CONSTANT => hidden.iter().find(|one| one.mark == *value),
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
    let split = first_type.unwrap_or(body.len());
    [&words[..HEADER_WORDS], &body[..split], &decorations, &body[split..]].concat()
}

/// `OpTypeVoid` to `OpTypeForwardPointer`, and constants.
fn is_declaration(opcode: u32) -> bool {
    (19..=39).contains(&opcode) || (41..=52).contains(&opcode)
}
