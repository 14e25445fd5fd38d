//! The push-constant block: the scalars in order, then the hidden members that the runtime fills in.
//!
//! Hidden members are named `kps.*`: `kps.domain` (uvec3), the invocations asked for, and
//! `kps.base` (uvec3), the workgroup with which this part of a launch begins, and
//! `kps.shape.NAME.AXIS` (u32), the length of one axis of an array, where the kernel looks at it.
//! Everything lies as std430 has it.

use crate::ir::{Buffer, BufferId, ScalarId, ScalarParam};
use crate::types::{Scalar, Type};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Scalar(ScalarId),
    Domain,
    Base,
    Axis(BufferId, u8),
}

/// A member in its place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub member: Member,
    pub name: String,
    /// As it is stored.
    pub ty: Type,
    pub offset: u32,
}

#[derive(Debug, Default)]
pub(crate) struct PushLayout {
    pub members: Vec<Placed>,
    /// Bytes up to the end of the last member.
    pub size: u32,
}

impl PushLayout {
    pub fn of(scalars: &[ScalarParam], buffers: &[Buffer], hidden: &[Member]) -> PushLayout {
        let mut layout = PushLayout::default();
        let visible = (0..scalars.len() as u32).map(|at| Member::Scalar(ScalarId(at)));
        for member in visible.chain(hidden.iter().copied()) {
            let (name, ty) = match member {
                Member::Scalar(id) => {
                    let scalar = &scalars[id.idx()];
                    (scalar.name.to_string(), scalar.ty.in_push_constants())
                }
                Member::Domain => ("kps.domain".to_owned(), Type::Vector(3, Scalar::U32)),
                Member::Base => ("kps.base".to_owned(), Type::Vector(3, Scalar::U32)),
                Member::Axis(buffer, axis) => {
                    (format!("kps.shape.{}.{axis}", buffers[buffer.idx()].name), Type::U32)
                }
            };
            layout.push(member, name, ty);
        }
        layout
    }

    fn push(&mut self, member: Member, name: String, ty: Type) {
        let offset = self.size.next_multiple_of(ty.std430_align());
        self.size = offset + ty.packed_size();
        self.members.push(Placed { member, name, ty, offset });
    }

    /// The number of a member in the block.
    pub fn position(&self, member: Member) -> Option<u32> {
        self.members.iter().position(|placed| placed.member == member).map(|at| at as u32)
    }
}
