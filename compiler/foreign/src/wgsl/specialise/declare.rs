//! Declares specialisation constants in SPIR-V. Constants with sentinels are found and converted. The others
//! are declared, though nothing in the module uses them.

use naga::{Literal, Scalar, ScalarKind};

use super::{Constants, Declared};
use crate::words::{
    BOUND, HEADER_WORDS, OP_CONSTANT, OP_DECORATE, instructions_in, is_declaration, is_decoration, n_before,
    text,
};

const OP_NAME: u32 = 5;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_SPEC_CONSTANT_TRUE: u32 = 48;
const OP_SPEC_CONSTANT_FALSE: u32 = 49;
const OP_SPEC_CONSTANT: u32 = 50;
const OP_FUNCTION: u32 = 54;
const DECORATION_SPEC_ID: u32 = 1;

/// Instructions to add to a module, by section.
#[derive(Default)]
struct Added {
    capabilities: Vec<u32>,
    names: Vec<u32>,
    decorations: Vec<u32>,
    declarations: Vec<u32>,
}

impl Constants {
    /// Declares all constants of the text in a module.
    pub(crate) fn declare(&self, words: Vec<u32>) -> Vec<u32> {
        if self.declared.is_empty() {
            return words;
        }
        let (mut header, mut body) = (words[..HEADER_WORDS].to_vec(), words[HEADER_WORDS..].to_vec());
        let mut added = Added::default();
        for (at, constant) in self.declared.iter().enumerate() {
            let found = self
                .sentinels
                .get(at)
                .and_then(|sentinel| replace_sentinel(&mut body, *sentinel, constant.value));
            let id = found.unwrap_or_else(|| added.declare(constant, &mut header[BOUND], &body));
            added.decorations.extend([4 << 16 | OP_DECORATE, id, DECORATION_SPEC_ID, constant.id]);
        }
        added.put_into(header, body)
    }
}

/// Turns a constant with a sentinel into a specialisation constant, and returns its id. `None` if it is
/// unused, and so absent.
fn replace_sentinel(body: &mut [u32], sentinel: Literal, default: Literal) -> Option<u32> {
    let (sentinel, default) = (bits(sentinel), bits(default));
    let mut start = 0;
    let (start, id) = instructions_in(body).find_map(|instruction| match instruction {
        [first, _, id, value @ ..] if first & 0xffff == OP_CONSTANT && value == sentinel => {
            Some((start, *id))
        }
        _ => {
            start += instruction.len();
            None
        }
    })?;
    body[start] = (3 + default.len() as u32) << 16 | OP_SPEC_CONSTANT;
    body[start + 3..][..default.len()].copy_from_slice(&default);
    Some(id)
}

impl Added {
    /// Declares a constant that the module lacks, and returns its id.
    fn declare(&mut self, constant: &Declared, bound: &mut u32, body: &[u32]) -> u32 {
        let ty = self.ty(constant.value.scalar(), bound, body);
        let id = take_id(bound);
        let value = match constant.value {
            Literal::Bool(true) => vec![3 << 16 | OP_SPEC_CONSTANT_TRUE, ty, id],
            Literal::Bool(false) => vec![3 << 16 | OP_SPEC_CONSTANT_FALSE, ty, id],
            value => {
                let bits = bits(value);
                let length = 3 + bits.len() as u32;
                [&[length << 16 | OP_SPEC_CONSTANT, ty, id][..], &bits].concat()
            }
        };
        self.declarations.extend(value);
        let name = text(&constant.name);
        self.names.extend([(2 + name.len() as u32) << 16 | OP_NAME, id]);
        self.names.extend(name);
        id
    }

    /// The id of a type, which is declared if the module lacks it: a module declares each once.
    fn ty(&mut self, scalar: Scalar, bound: &mut u32, body: &[u32]) -> u32 {
        let bits = u32::from(scalar.width) * 8;
        let (opcode, operands) = match scalar.kind {
            ScalarKind::Bool => (OP_TYPE_BOOL, vec![]),
            ScalarKind::Sint => (OP_TYPE_INT, vec![bits, 1]),
            ScalarKind::Uint => (OP_TYPE_INT, vec![bits, 0]),
            _ => (OP_TYPE_FLOAT, vec![bits]),
        };
        let is_type = |instruction: &[u32]| {
            instruction[0] & 0xffff == opcode && instruction.get(2..) == Some(operands.as_slice())
        };
        let known = instructions_in(body).chain(instructions_in(&self.declarations)).find(|one| is_type(one));
        if let Some(found) = known {
            return found[1];
        }
        let id = take_id(bound);
        let length = 2 + operands.len() as u32;
        self.declarations.extend([length << 16 | opcode, id]);
        self.declarations.extend(operands);
        if let Some(capability) = capability(scalar) {
            self.capabilities.extend([2 << 16 | OP_CAPABILITY, capability]);
        }
        id
    }

    /// Joins all sections in the order that SPIR-V requires: names, decorations, declarations, functions.
    fn put_into(self, header: Vec<u32>, body: Vec<u32>) -> Vec<u32> {
        let names = n_before(&body, |opcode| is_decoration(opcode) || is_declaration(opcode));
        let decorations = n_before(&body, is_declaration);
        let functions = n_before(&body, |opcode| opcode == OP_FUNCTION);
        [
            &header[..],
            &self.capabilities,
            &body[..names],
            &self.names,
            &body[names..decorations],
            &self.decorations,
            &body[decorations..functions],
            &self.declarations,
            &body[functions..],
        ]
        .concat()
    }
}

fn take_id(bound: &mut u32) -> u32 {
    *bound += 1;
    *bound - 1
}

/// The capability that values of a type require.
fn capability(scalar: Scalar) -> Option<u32> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => Some(9),
        (ScalarKind::Float, 8) => Some(10),
        (ScalarKind::Sint | ScalarKind::Uint, 2) => Some(22),
        _ => None,
    }
}

/// The words of a number: narrow signed ones are sign-extended.
fn bits(value: Literal) -> Vec<u32> {
    match value {
        Literal::F64(value) => {
            let bits = value.to_bits();
            vec![bits as u32, (bits >> 32) as u32]
        }
        Literal::F32(value) => vec![value.to_bits()],
        Literal::F16(value) => vec![value.to_bits().into()],
        Literal::U32(value) => vec![value],
        Literal::I32(value) => vec![value as u32],
        Literal::U16(value) => vec![value.into()],
        Literal::I16(value) => vec![i32::from(value) as u32],
        // A constant has no other type.
        _ => vec![0],
    }
}
