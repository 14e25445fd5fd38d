//! Definitions, names and decorations of a module's ids.

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op};
use rustc_hash::FxHashMap;

/// Types, constants and variables of a module by id, with their names and decorations.
pub(crate) struct Ids<'m> {
    definitions: FxHashMap<u32, &'m Instruction>,
    names: FxHashMap<u32, &'m str>,
    member_names: FxHashMap<(u32, u32), &'m str>,
    decorations: FxHashMap<u32, Vec<&'m [Operand]>>,
    member_decorations: FxHashMap<(u32, u32), Vec<&'m [Operand]>>,
}

impl<'m> Ids<'m> {
    pub fn of(module: &'m Module) -> Ids<'m> {
        let mut ids = Ids {
            definitions: FxHashMap::default(),
            names: FxHashMap::default(),
            member_names: FxHashMap::default(),
            decorations: FxHashMap::default(),
            member_decorations: FxHashMap::default(),
        };
        for instruction in &module.types_global_values {
            if let Some(id) = instruction.result_id {
                ids.definitions.insert(id, instruction);
            }
        }
        module.debug_names.iter().for_each(|instruction| ids.take_name(instruction));
        module.annotations.iter().for_each(|instruction| ids.take_decoration(instruction));
        ids
    }

    fn take_name(&mut self, instruction: &'m Instruction) {
        match instruction.operands.as_slice() {
            // Tools write an empty name for none.
            [.., Operand::LiteralString(name)] if name.is_empty() => {}
            [Operand::IdRef(id), Operand::LiteralString(name)] => {
                self.names.insert(*id, name);
            }
            [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::LiteralString(name)] => {
                self.member_names.insert((*id, *member), name);
            }
            _ => {}
        }
    }

    fn take_decoration(&mut self, instruction: &'m Instruction) {
        match (instruction.class.opcode, instruction.operands.as_slice()) {
            (Op::Decorate | Op::DecorateId | Op::DecorateString, [Operand::IdRef(id), rest @ ..]) => {
                self.decorations.entry(*id).or_default().push(rest);
            }
            (
                Op::MemberDecorate | Op::MemberDecorateString,
                [Operand::IdRef(id), Operand::LiteralBit32(member), rest @ ..],
            ) => self.member_decorations.entry((*id, *member)).or_default().push(rest),
            // Groups come after their decorations.
            (Op::GroupDecorate, [Operand::IdRef(group), targets @ ..]) => {
                let gathered = self.decorations.get(group).cloned().unwrap_or_default();
                for target in targets {
                    if let Operand::IdRef(id) = target {
                        self.decorations.entry(*id).or_default().extend(&gathered);
                    }
                }
            }
            _ => {}
        }
    }

    /// The type, constant or global variable with this id.
    pub fn definition(&self, id: u32) -> Option<&'m Instruction> {
        self.definitions.get(&id).copied()
    }

    pub fn name(&self, id: u32) -> Option<&'m str> {
        self.names.get(&id).copied()
    }

    pub fn member_name(&self, id: u32, member: u32) -> Option<&'m str> {
        self.member_names.get(&(id, member)).copied()
    }

    pub fn has(&self, id: u32, decoration: Decoration) -> bool {
        self.decorations.get(&id).is_some_and(|list| find(list, decoration).is_some())
    }

    pub fn member_has(&self, id: u32, member: u32, decoration: Decoration) -> bool {
        self.member_decorations.get(&(id, member)).is_some_and(|list| find(list, decoration).is_some())
    }

    /// The literal operand of the decoration.
    pub fn literal(&self, id: u32, decoration: Decoration) -> Option<u32> {
        literal(find(self.decorations.get(&id)?, decoration)?)
    }

    pub fn member_literal(&self, id: u32, member: u32, decoration: Decoration) -> Option<u32> {
        literal(find(self.member_decorations.get(&(id, member))?, decoration)?)
    }

    /// The built-in of the id.
    pub fn built_in_of(&self, id: u32) -> Option<BuiltIn> {
        match find(self.decorations.get(&id)?, Decoration::BuiltIn)? {
            [Operand::BuiltIn(built_in), ..] => Some(*built_in),
            _ => None,
        }
    }

    /// The number of 32-bit ints in a variable: a scalar or a vector of them.
    pub fn n_ints(&self, variable: &Instruction) -> Option<u32> {
        let pointer = self.definition(variable.result_type?)?;
        let ty = self.definition(id_at(pointer, 1)?)?;
        let (n, scalar) = match ty.class.opcode {
            Op::TypeVector => (literal_at(ty, 1)?, self.definition(id_at(ty, 0)?)?),
            _ => (1, ty),
        };
        let is_int = scalar.class.opcode == Op::TypeInt && literal_at(scalar, 0) == Some(32);
        is_int.then_some(n)
    }

    /// The id with this built-in.
    pub fn built_in(&self, built_in: BuiltIn) -> Option<u32> {
        let wanted = Operand::BuiltIn(built_in);
        self.decorations
            .iter()
            .filter(|(_, list)| find(list, Decoration::BuiltIn).is_some_and(|rest| rest.contains(&wanted)))
            .map(|(&id, _)| id)
            .min()
    }
}

fn find<'m>(list: &[&'m [Operand]], decoration: Decoration) -> Option<&'m [Operand]> {
    list.iter().find_map(|operands| match operands {
        [Operand::Decoration(found), rest @ ..] if *found == decoration => Some(rest),
        _ => None,
    })
}

fn literal(operands: &[Operand]) -> Option<u32> {
    match operands.first() {
        Some(Operand::LiteralBit32(value)) => Some(*value),
        _ => None,
    }
}

/// The id that is the operand at `index`.
pub(crate) fn id_at(instruction: &Instruction, index: usize) -> Option<u32> {
    match instruction.operands.get(index) {
        Some(Operand::IdRef(id)) => Some(*id),
        _ => None,
    }
}

/// The number that is the operand at `index`.
pub(crate) fn literal_at(instruction: &Instruction, index: usize) -> Option<u32> {
    literal(instruction.operands.get(index..)?)
}
