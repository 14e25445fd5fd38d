//! Types and constants of a module, and those that the guard adds. Integer types move to the front of the
//! types, and new constants follow them, so that both precede every use.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass};
use rustc_hash::FxHashMap;

use super::bad_module;
use crate::Result;
use crate::reflect::Constants;
use crate::words::push;

/// A type, as far as it can be indexed.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Int {
        bits: u32,
        signed: bool,
    },
    /// A vector, a matrix or an array.
    Sequence {
        element: u32,
        len: u64,
    },
    /// A cooperative matrix; the device determines the number of components for each invocation.
    Cooperative {
        component: u32,
    },
    RuntimeArray {
        element: u32,
    },
    Struct {
        members: Vec<u32>,
    },
    Pointer {
        class: StorageClass,
        pointee: u32,
    },
}

pub struct Globals {
    types: FxHashMap<u32, Type>,
    /// The type of each id that has one.
    types_of: FxHashMap<u32, u32>,
    /// Literal bits of integer constants.
    literals: FxHashMap<u32, u64>,
    /// Arrays with specialised lengths, and these lengths.
    pub specialised: Vec<(u32, u64)>,
}

impl Globals {
    pub fn of(module: &Module, constants: &Constants) -> Result<Globals> {
        let with_type = |inst: &Instruction| Some((inst.result_id?, inst.result_type?));
        let mut globals = Globals {
            types: FxHashMap::default(),
            types_of: module.all_inst_iter().filter_map(with_type).collect(),
            literals: FxHashMap::default(),
            specialised: Vec::new(),
        };
        for inst in &module.types_global_values {
            let Some(id) = inst.result_id else { continue };
            if let Some(ty) = globals.read_type(inst, id, constants)? {
                globals.types.insert(id, ty);
            } else if let Some(bits) = globals.literal_of(inst) {
                globals.literals.insert(id, bits);
            }
        }
        Ok(globals)
    }

    fn read_type(&mut self, inst: &Instruction, id: u32, constants: &Constants) -> Result<Option<Type>> {
        let ty = match (inst.class.opcode, inst.operands.as_slice()) {
            (Op::TypeInt, [Operand::LiteralBit32(bits), Operand::LiteralBit32(signed)]) => {
                Type::Int { bits: *bits, signed: *signed != 0 }
            }
            (Op::TypeVector | Op::TypeMatrix, [Operand::IdRef(element), Operand::LiteralBit32(n)]) => {
                Type::Sequence { element: *element, len: u64::from(*n) }
            }
            (Op::TypeArray, [Operand::IdRef(element), Operand::IdRef(length)]) => {
                let len = match self.literals.get(length) {
                    Some(len) => *len,
                    None => {
                        let len = constants.u32(*length).ok_or_else(|| unknown_length(id))?.into();
                        self.specialised.push((id, len));
                        len
                    }
                };
                if len == 0 {
                    return Err(bad_module(format!("the array type %{id} has no elements")));
                }
                Type::Sequence { element: *element, len }
            }
            (Op::TypeCooperativeMatrixKHR, [Operand::IdRef(component), ..]) => {
                Type::Cooperative { component: *component }
            }
            (Op::TypeRuntimeArray, [Operand::IdRef(element)]) => Type::RuntimeArray { element: *element },
            (Op::TypeStruct, members) => {
                Type::Struct { members: members.iter().filter_map(Operand::id_ref_any).collect() }
            }
            (Op::TypePointer, [Operand::StorageClass(class), Operand::IdRef(pointee)]) => {
                Type::Pointer { class: *class, pointee: *pointee }
            }
            _ => return Ok(None),
        };
        Ok(Some(ty))
    }

    /// The bits of an integer constant, sign-extended.
    fn literal_of(&self, inst: &Instruction) -> Option<u64> {
        let Type::Int { bits, signed } = *self.get(inst.result_type?)? else { return None };
        match (inst.class.opcode, inst.operands.first()) {
            (Op::ConstantNull, _) => Some(0),
            (Op::Constant, Some(Operand::LiteralBit32(word))) => {
                let unused = 32_u32.saturating_sub(bits);
                Some(match signed {
                    true => (((*word << unused) as i32) >> unused) as i64 as u64,
                    false => u64::from((*word << unused) >> unused),
                })
            }
            (Op::Constant, Some(Operand::LiteralBit64(bits))) => Some(*bits),
            _ => None,
        }
    }

    pub fn get(&self, ty: u32) -> Option<&Type> {
        self.types.get(&ty)
    }

    pub fn type_of(&self, id: u32) -> Option<u32> {
        self.types_of.get(&id).copied()
    }

    /// The value of an integer constant that is no specialisation constant.
    pub fn literal(&self, id: u32) -> Option<u64> {
        self.literals.get(&id).copied()
    }

    fn int(&self, bits: u32, signed: bool) -> Option<u32> {
        let wanted = Type::Int { bits, signed };
        self.types.iter().find(|(_, ty)| **ty == wanted).map(|(id, _)| *id)
    }
}

fn unknown_length(array: u32) -> crate::DeviceError {
    bad_module(format!(
        "the length of the array type %{array} follows from specialisation constants in a way that is not known here"
    ))
}

/// The types and constants that the guard adds to a module.
pub struct Additions {
    next_id: u32,
    /// Integer types at the front: ids, widths and signs.
    ints: Vec<(u32, u32, bool)>,
    /// By type and value.
    constants: FxHashMap<(u32, u64), u32>,
    constant_words: Vec<u32>,
    /// `GLSL.std.450`.
    glsl: Option<u32>,
    imports_glsl: bool,
}

impl Additions {
    pub fn new(module: &Module) -> Additions {
        let is_glsl = |inst: &&Instruction| matches!(inst.operands.first(), Some(Operand::LiteralString(name)) if name == "GLSL.std.450");
        Additions {
            next_id: module.header.as_ref().map_or(1, |header| header.bound),
            ints: Vec::new(),
            constants: FxHashMap::default(),
            constant_words: Vec::new(),
            glsl: module.ext_inst_imports.iter().find(is_glsl).and_then(|inst| inst.result_id),
            imports_glsl: false,
        }
    }

    pub fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    pub fn bound(&self) -> u32 {
        self.next_id
    }

    /// An integer type, which moves to the front.
    pub fn int(&mut self, globals: &Globals, bits: u32, signed: bool) -> u32 {
        let known = self.ints.iter().find(|(_, of, sign)| (*of, *sign) == (bits, signed));
        if let Some((id, ..)) = known {
            return *id;
        }
        let id = globals.int(bits, signed).unwrap_or_else(|| self.id());
        self.ints.push((id, bits, signed));
        id
    }

    /// A constant of an integer type of 32 or 64 bits.
    pub fn constant(&mut self, globals: &Globals, bits: u32, signed: bool, value: u64) -> u32 {
        let ty = self.int(globals, bits, signed);
        if let Some(id) = self.constants.get(&(ty, value)) {
            return *id;
        }
        let id = self.id();
        let (low, high) = (value as u32, (value >> 32) as u32);
        let operands = [ty, id, low, high];
        push(&mut self.constant_words, Op::Constant, &operands[..if bits > 32 { 4 } else { 3 }]);
        self.constants.insert((ty, value), id);
        id
    }

    /// The module's own import.
    pub fn known_glsl(&self) -> Option<u32> {
        self.glsl
    }

    pub fn glsl(&mut self) -> u32 {
        if let Some(id) = self.glsl {
            return id;
        }
        let id = self.id();
        (self.glsl, self.imports_glsl) = (Some(id), true);
        id
    }

    /// The added import.
    pub fn import(&self) -> Vec<u32> {
        let mut words = Vec::new();
        if let (Some(id), true) = (self.glsl, self.imports_glsl) {
            let name = b"GLSL.std.450\0\0\0\0".chunks_exact(4);
            let name = name.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            push(&mut words, Op::ExtInstImport, &[id].into_iter().chain(name).collect::<Vec<_>>());
        }
        words
    }

    /// Whether a type of the module was moved to the front.
    pub fn moved(&self, ty: u32) -> bool {
        self.ints.iter().any(|(id, ..)| *id == ty)
    }

    /// The instructions before the first type.
    pub fn front(&self) -> Vec<u32> {
        let mut words = Vec::new();
        for (id, bits, signed) in &self.ints {
            push(&mut words, Op::TypeInt, &[*id, *bits, u32::from(*signed)]);
        }
        words.extend_from_slice(&self.constant_words);
        words
    }
}
