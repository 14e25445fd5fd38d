//! The layout of parameters that are values: the push-constant block, and a uniform buffer for the rest.
//!
//! The push constants are the scalars in order, as far as they fit, then hidden members that the runtime fills in.
//! Lengths that do not fit go to the uniform buffer; the base of a dispatch and addresses never do. The hidden members:
//!
//! | Member | Value |
//! |---|---|
//! | `kps.domain` (uvec3) | the invocations of the launch |
//! | `kps.base` (uvec3) | the first workgroup of this dispatch |
//! | `kps.shape.NAME.AXIS` (u32) | the length of an axis of an array, if the kernel uses it |
//! | `kps.address.NAME.SLOT` | the address of an array without a descriptor |
//! | `kps.len.NAME` (u32) | the number of its elements |
//!
//! Counts that may exceed an i32 have 64 bits: `kps.domain`, and those of an array with so many elements.
//!
//! A number or a vector is one member. A struct, a matrix or an array is one member for each of its numbers, in memory
//! order, so that no rule of block layout applies. The layout is std430, which such members share with uniform buffers.

use std::ops::Range;

use crate::ir::ids::{BufferId, ScalarId};
use crate::ir::params::{Buffer, ScalarParam};
use crate::type_expr::Width;
use crate::types::{Scalar, Type};

/// Push constants that every device has.
pub(crate) const PUSH_CONSTANT_BYTES: u32 = 128;
/// Bytes of a uniform buffer that every device has.
pub(crate) const UNIFORM_BYTES: u32 = 16384;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Member {
    Scalar(ScalarId),
    Domain,
    Base,
    Axis(BufferId, u8),
    /// The address of an array.
    Address(BufferId),
    /// The number of elements of an array.
    Len(BufferId),
}

/// A member with its offset.
#[derive(Debug)]
pub(crate) struct Placed {
    pub member: Member,
    /// `n`, `p.pos.1`.
    pub name: String,
    /// The stored type.
    pub ty: Type,
    pub offset: u32,
}

/// The members of one block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub members: Vec<Placed>,
    /// Bytes up to the end of the last member.
    pub size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    Push,
    /// The uniform buffer.
    Spill,
}

/// The members of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct ParamPlace {
    pub block: BlockKind,
    pub members: Range<usize>,
}

#[derive(Debug, Default)]
pub(crate) struct PushLayout {
    pub push: Block,
    pub spill: Block,
    /// The place of each scalar.
    places: Vec<ParamPlace>,
}

impl PushLayout {
    /// ORDER: lengths come last among the hidden members.
    pub fn of(scalars: &[ScalarParam], buffers: &[Buffer], hidden: &[Member], ids: Width) -> PushLayout {
        let hidden: Vec<(Member, String, Type)> =
            hidden.iter().map(|member| hidden_member(*member, buffers, ids)).collect();
        let mut layout = PushLayout::default();
        for (scalar, at) in scalars.iter().zip(0..) {
            let mut numbers = Vec::new();
            push_members(&scalar.ty, scalar.name.to_string(), &mut numbers);
            let types = numbers.iter().map(|(_, ty)| ty).chain(hidden.iter().map(|(.., ty)| ty));
            let block = match types.fold(layout.push.size, end_of) <= PUSH_CONSTANT_BYTES {
                true => BlockKind::Push,
                false => BlockKind::Spill,
            };
            let members = &mut layout.block_mut(block).members;
            let first = members.len();
            let place = ParamPlace { block, members: first..first + numbers.len() };
            layout.places.push(place);
            for (name, ty) in numbers {
                layout.block_mut(block).add(Member::Scalar(ScalarId(at)), name, ty);
            }
        }
        for (member, name, ty) in hidden {
            let fits = end_of(layout.push.size, &ty) <= PUSH_CONSTANT_BYTES;
            let block = match member {
                Member::Axis(..) | Member::Len(_) if !fits => BlockKind::Spill,
                _ => BlockKind::Push,
            };
            layout.block_mut(block).add(member, name, ty);
        }
        layout
    }

    pub fn block(&self, kind: BlockKind) -> &Block {
        match kind {
            BlockKind::Push => &self.push,
            BlockKind::Spill => &self.spill,
        }
    }

    fn block_mut(&mut self, kind: BlockKind) -> &mut Block {
        match kind {
            BlockKind::Push => &mut self.push,
            BlockKind::Spill => &mut self.spill,
        }
    }

    pub fn place(&self, scalar: ScalarId) -> &ParamPlace {
        &self.places[scalar.idx()]
    }

    /// The block of a hidden member, and its index there.
    pub fn position(&self, member: Member) -> Option<(BlockKind, u32)> {
        [BlockKind::Push, BlockKind::Spill].into_iter().find_map(|kind| {
            let at = self.block(kind).members.iter().position(|placed| placed.member == member)?;
            Some((kind, at as u32))
        })
    }
}

impl Block {
    fn add(&mut self, member: Member, name: String, ty: Type) {
        let offset = self.size.next_multiple_of(ty.std430_align());
        self.size = end_of(self.size, &ty);
        self.members.push(Placed { member, name, ty, offset });
    }
}

/// The end of the next member.
fn end_of(size: u32, ty: &Type) -> u32 {
    size.next_multiple_of(ty.std430_align()).saturating_add(ty.packed_size())
}

fn hidden_member(member: Member, buffers: &[Buffer], ids: Width) -> (Member, String, Type) {
    let of = |buffer: BufferId| &buffers[buffer.idx()];
    let count = |buffer: BufferId| Type::Scalar(of(buffer).counts.unsigned());
    let (name, ty) = match member {
        Member::Scalar(_) => unreachable!("scalars are not hidden"),
        Member::Domain => ("kps.domain".to_owned(), Type::Vector(3, ids.unsigned())),
        Member::Base => ("kps.base".to_owned(), Type::Vector(3, Scalar::U32)),
        Member::Axis(buffer, axis) => (format!("kps.shape.{}.{axis}", of(buffer).name), count(buffer)),
        Member::Address(buffer) => {
            let Buffer { name, binding, .. } = of(buffer);
            (format!("kps.address.{name}.{binding}"), Scalar::U64.into())
        }
        Member::Len(buffer) => (format!("kps.len.{}", of(buffer).name), count(buffer)),
    };
    (member, name, ty)
}

/// A parameter as members; numbers of 8 and 16 bits, and bools, are stored in 32.
fn push_members(ty: &Type, name: String, members: &mut Vec<(String, Type)>) {
    match ty {
        Type::Scalar(_) | Type::Vector(..) => members.push((name, ty.in_push_constants())),
        ty => push_numbers(ty, name, members),
    }
}

fn push_numbers(ty: &Type, name: String, members: &mut Vec<(String, Type)>) {
    if let Type::Scalar(_) = ty {
        return members.push((name, ty.in_push_constants()));
    }
    for (at, (_, part)) in ty.offsets().into_iter().enumerate() {
        let part_name = match ty {
            Type::Struct(of) => format!("{name}.{}", of.members[at].name),
            _ => format!("{name}.{at}"),
        };
        push_numbers(&part, part_name, members);
    }
}
