//! Decorations of ids and members, and the names of members. Decorations without a meaning for this device
//! are ignored.

use rspirv::spirv::Decoration;
use rustc_hash::FxHashMap;

use super::Id;

#[derive(Clone, Default)]
pub struct Decorations {
    ids: FxHashMap<Id, OfId>,
    members: FxHashMap<(Id, u32), OfMember>,
    pub member_names: FxHashMap<(Id, u32), String>,
}

#[derive(Clone, Copy, Default)]
pub struct OfId {
    pub array_stride: Option<u32>,
    pub set: Option<u32>,
    pub binding: Option<u32>,
    pub builtin: Option<u32>,
    pub spec_id: Option<u32>,
    pub block: bool,
    /// A storage buffer of SPIR-V before 1.3.
    pub buffer_block: bool,
}

#[derive(Clone, Copy, Default)]
pub struct OfMember {
    pub offset: Option<u32>,
    pub matrix_stride: Option<u32>,
    pub row_major: bool,
}

impl Decorations {
    pub fn of(&self, id: Id) -> OfId {
        self.ids.get(&id).copied().unwrap_or_default()
    }

    pub fn of_member(&self, id: Id, member: u32) -> OfMember {
        self.members.get(&(id, member)).copied().unwrap_or_default()
    }

    /// `OpDecorate`, with the first operand of the decoration if it has one.
    pub fn decorate(&mut self, id: Id, decoration: u32, operand: Option<u32>) {
        let of = self.ids.entry(id).or_default();
        match Decoration::from_u32(decoration) {
            Some(Decoration::ArrayStride) => of.array_stride = operand,
            Some(Decoration::DescriptorSet) => of.set = operand,
            Some(Decoration::Binding) => of.binding = operand,
            Some(Decoration::BuiltIn) => of.builtin = operand,
            Some(Decoration::SpecId) => of.spec_id = operand,
            Some(Decoration::Block) => of.block = true,
            Some(Decoration::BufferBlock) => of.buffer_block = true,
            _ => {}
        }
    }

    /// `OpMemberDecorate`.
    pub fn decorate_member(&mut self, id: Id, member: u32, decoration: u32, operand: Option<u32>) {
        let of = self.members.entry((id, member)).or_default();
        match Decoration::from_u32(decoration) {
            Some(Decoration::Offset) => of.offset = operand,
            Some(Decoration::MatrixStride) => of.matrix_stride = operand,
            Some(Decoration::RowMajor) => of.row_major = true,
            _ => {}
        }
    }

    /// `OpGroupDecorate`: gives an id the decorations of a group.
    pub fn copy(&mut self, group: Id, to: Id) {
        let of_group = self.of(group);
        let of = self.ids.entry(to).or_default();
        of.array_stride = of_group.array_stride.or(of.array_stride);
        of.set = of_group.set.or(of.set);
        of.binding = of_group.binding.or(of.binding);
        of.builtin = of_group.builtin.or(of.builtin);
        of.spec_id = of_group.spec_id.or(of.spec_id);
        of.block |= of_group.block;
        of.buffer_block |= of_group.buffer_block;
    }
}
