//! The parts of a kernel, and what each operation means.

use kps_scalar::Scalar;

use super::parts::Parts;
use super::sites::{Site, SiteKind};
use super::{Atomic, Binary, Compare, Convert, Terminator, Unary};
use crate::cpu::module::Line;
use crate::findings::ArrayName;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Bool,
    I32,
    I64,
    F32,
    F64,
}

impl Ty {
    /// Bytes in memory.
    pub fn size(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 => 8,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// A scalar variable of the kernel that is not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

#[derive(Clone, Debug)]
pub struct Kernel {
    pub local_size: [u32; 3],
    /// Descriptor set and binding of each buffer, indexed by [`Space::Buffer`].
    pub buffers: Vec<(u32, u32)>,
    /// Descriptor set and binding of each image, and of each sampler.
    pub images: Vec<(u32, u32)>,
    pub samplers: Vec<(u32, u32)>,
    /// Whether it uses physical addresses.
    pub uses_addresses: bool,
    /// Bytes of push constants that the kernel may reach.
    pub push_size: u32,
    /// Bytes of shared memory.
    pub shared_size: u32,
    /// Whether shared memory is zeroed when a workgroup begins.
    pub clears_shared: bool,
    /// Bytes of private memory of each lane.
    pub frame_size: u32,
    /// Lanes of a subgroup, which have consecutive indices in the workgroup.
    pub subgroup_size: u32,
    /// The subgroup operations, indexed by [`Terminator::Subgroup`]. If there is one, lanes of a workgroup
    /// may wait at different places.
    pub group_ops: Vec<GroupOp>,
    /// Named variables in memory.
    pub arrays: Vec<Array>,
    /// Whether the dispatch chooses the order of the lanes in a workgroup.
    pub is_shuffled: bool,
    /// The instrumentation sites, by id.
    pub sites: Vec<Site>,
    /// Structs whose members were loaded at once. Only checked kernels have them.
    pub structs: Vec<Vec<Value>>,
    /// The call sites of inlined functions. Call number `n` is at `n - 1`.
    pub calls: Vec<Line>,
    pub values: Vec<ValueInfo>,
    pub locals: Vec<Ty>,
    pub blocks: Vec<Block>,
    pub entry: BlockId,
}

/// A variable in memory: bytes `start .. end` of a space.
#[derive(Clone, Debug)]
pub struct Array {
    pub space: Space,
    pub start: u64,
    pub end: u64,
    pub name: Option<ArrayName>,
    pub parts: Parts,
}

#[derive(Clone, Copy, Debug)]
pub struct ValueInfo {
    pub ty: Ty,
    pub def: Def,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Def {
    /// The bits, zero-extended.
    Const(u64),
    Builtin(Builtin),
    Param(BlockId),
    Inst(BlockId),
}

/// Constant for a lane's whole life; `u8` is the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    GlobalId(u8),
    LocalId(u8),
    LocalIndex,
    GroupId(u8),
    NumGroups(u8),
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub params: Vec<Value>,
    pub insts: Vec<Inst>,
    pub end: Terminator,
    /// Line of the terminator.
    pub line: Option<Line>,
}

#[derive(Clone, Debug)]
pub struct Inst {
    pub op: Op,
    /// `None` for operations without a result.
    pub result: Option<Value>,
    pub line: Option<Line>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Unary(Unary, Value),
    Binary(Binary, Value, Value),
    Compare(Compare, Value, Value),
    /// The second if the first is true, else the third.
    Select(Value, Value, Value),
    Convert(Convert, Value),
    /// First times second plus third, with a single rounding.
    Fma(Value, Value, Value),
    /// A function of [`crate::cpu::math`].
    Call(crate::cpu::math::Function, Vec<Value>),
    /// An `I64`: the address of bytes `offset + constant .. + size` of a space, if all of them are inside.
    /// Otherwise the address of scratch memory: loads there read zero, and stores have no effect.
    Address(Address),
    Load {
        ty: Ty,
        address: Value,
        offset: u32,
    },
    Store {
        address: Value,
        offset: u32,
        value: Value,
    },
    /// An `I32`: the one or two bytes at an address, zero-extended.
    LoadNarrow {
        bytes: u32,
        address: Value,
        offset: u32,
    },
    /// Writes the lowest one or two bytes of an `I32`.
    StoreNarrow {
        bytes: u32,
        address: Value,
        offset: u32,
        value: Value,
    },
    /// An atomic load that is never merged with an earlier one. The address is a multiple of the size.
    AtomicLoad {
        ty: Ty,
        address: Value,
    },
    /// An atomic read-modify-write of the whole value at an address, which is a multiple of its size. The
    /// result is the old value.
    Atomic {
        op: Atomic,
        address: Value,
        value: Value,
    },
    /// As [`Op::Atomic`], on a float of 16 bits. `value` and the old value are `F32`s that `f16` can
    /// represent.
    AtomicHalf {
        op: Atomic,
        address: Value,
        value: Value,
    },
    /// Writes `value` if the old value equals `expected`. The result is the old value.
    CompareExchange {
        address: Value,
        expected: Value,
        value: Value,
    },
    /// An operation of [`crate::cpu::images`] on a texel. `texel` is the address of 16 bytes in the lane's
    /// memory. Coordinates are ints, or floats to sample.
    Image {
        image: u32,
        action: ImageAction,
        place: [Value; 3],
        texel: Value,
    },
    /// An `I64`: the address of a texel of four bytes; scratch memory if it is outside, as for
    /// [`Op::Address`].
    Texel {
        image: u32,
        place: [Value; 3],
    },
    /// An `I32`: number of texels along an axis.
    ImageSize {
        image: u32,
        axis: u8,
    },
    /// An `I64`: size of a buffer binding in bytes.
    BufferSize(u32),
    Get(Local),
    Set(Local, Value),
    /// Zeroes bytes `start .. start + size` of the lane's memory, both multiples of 8.
    Clear {
        start: u32,
        size: u32,
    },
    /// Performs the operation of [`Terminator::Subgroup`] for the active lanes of each subgroup. Only kernels
    /// that [`super::subgroup_ops`] made for SIMD groups of whole subgroups have it.
    Subgroup(SubgroupOp),
    /// A `Bool`: whether the workgroup may have left some of its shared memory unwritten. The observer of the
    /// dispatch knows.
    Unwritten,
    /// A `Bool`: whether the observer wants the accesses to a buffer in this dispatch. Images are counted
    /// after the buffers.
    Watched(u32),
    /// Reports values to the observer of the dispatch, if the condition is true or absent. It is never moved,
    /// merged or removed. The id is an index into [`Kernel::sites`].
    Instrument {
        site_id: u32,
        values: Vec<Value>,
        when: Option<Value>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageAction {
    Read,
    Write,
    Sample {
        sampler: u32,
    },
    /// One channel of the four texels that a linear filter would use, counterclockwise from the lower left: x
    /// low and y high, both high, x high and y low, both low.
    Gather {
        sampler: u32,
        channel: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    pub space: Space,
    /// An `I64` in bytes, at most 2^62 away from zero; any address if the space is the device.
    pub dynamic: Option<Value>,
    pub constant: u64,
    pub size: u32,
    pub access: crate::Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Buffer(u32),
    /// Any buffer of the device; offsets are physical addresses.
    Device,
    Push,
    Shared,
    /// `size` bytes of the lane's private memory, from byte `start`.
    Frame {
        start: u32,
        size: u32,
    },
}

/// The active lanes are those that wait at the same operation in the same iteration of every loop around it.
#[derive(Clone, Debug)]
pub struct GroupOp {
    pub kind: GroupKind,
    /// Offset of the operands in the lane's memory, eight bytes each. The results replace them.
    pub slots: u32,
    /// Components of the value that is exchanged. A scalar operand follows them.
    pub n: u32,
    /// Offset of the iteration counters of the loops around it, outermost first, four bytes each.
    pub rounds: u32,
    /// The loops around it, outermost first, by their heads.
    pub loops: Vec<BlockId>,
    /// Within one iteration of the same loops, lanes at the smaller place go first.
    pub place: u32,
}

/// A [`GroupOp`] as an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubgroupOp {
    /// The index of the operation in the kernel before this rewrite.
    pub number: u32,
    pub kind: GroupKind,
    pub slots: u32,
    pub n: u32,
}

/// Scalars give the type of a lane value's bits. Narrow ones are zero-extended in `I32`, or exact in `F32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// Waits, and does nothing else.
    Barrier,
    /// A boolean: true for the first active lane.
    Elect,
    /// Of a boolean, as the next.
    All,
    Any,
    /// Whether all active lanes have equal values.
    AllEqual(Scalar),
    /// Four words with a bit for each active lane whose boolean is true.
    Ballot,
    /// The value of another lane; the lane's own where that lane is not active.
    Read(Source),
    /// Over the active lanes, or over those before this one.
    Fold(Fold, Scalar, Span),
    /// The product of two matrices plus a third. The operands are the lane's components of each, in order.
    MultiplyAdd(MultiplyAdd),
}

/// `rows` x `inner` times `inner` x `columns`. Component `i` of lane `l` is element `i * subgroup_size + l`,
/// counted row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MultiplyAdd {
    pub rows: u32,
    pub inner: u32,
    pub columns: u32,
    pub a: Scalar,
    pub b: Scalar,
    pub c: Scalar,
    pub sum: Scalar,
    pub overflow: Overflow,
}

/// How an int sum overflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Wraps,
    Saturates,
}

/// Which lane's value is read. All but the first take an `I32` as the last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    First,
    Lane,
    Xor,
    /// So many lanes before.
    Up,
    Down,
    /// So many lanes after, wrapping around within clusters of a size.
    Rotate(u32),
    /// A lane of the same quad.
    Quad,
    /// 0: across columns, 1: across rows, 2: both.
    QuadSwap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Reduce,
    Inclusive,
    Exclusive,
    /// Over clusters of so many neighbours.
    Clustered(u32),
}

impl Kernel {
    /// Whether its lanes run one by one, in the order of the dispatch.
    pub fn runs_one_by_one(&self) -> bool {
        self.is_shuffled || self.is_profiled()
    }

    /// Whether the cost of its lines is counted.
    pub fn is_profiled(&self) -> bool {
        self.sites.iter().any(|site| matches!(site.kind, SiteKind::Profile(_)))
    }

    pub fn add_value(&mut self, ty: Ty, def: Def) -> Value {
        self.values.push(ValueInfo { ty, def });
        Value(self.values.len() as u32 - 1)
    }
}

impl Op {
    /// Calls `f` on each operand.
    pub fn each_use(&mut self, f: &mut impl FnMut(&mut Value)) {
        match self {
            Op::Unary(_, a)
            | Op::Convert(_, a)
            | Op::Load { address: a, .. }
            | Op::LoadNarrow { address: a, .. }
            | Op::AtomicLoad { address: a, .. }
            | Op::Set(_, a) => f(a),
            Op::Binary(_, a, b)
            | Op::Compare(_, a, b)
            | Op::Store { address: a, value: b, .. }
            | Op::StoreNarrow { address: a, value: b, .. }
            | Op::AtomicHalf { address: a, value: b, .. }
            | Op::Atomic { address: a, value: b, .. } => {
                f(a);
                f(b);
            }
            Op::Select(a, b, c)
            | Op::Fma(a, b, c)
            | Op::CompareExchange { address: a, expected: b, value: c } => {
                f(a);
                f(b);
                f(c);
            }
            Op::Call(_, args) => args.iter_mut().for_each(f),
            Op::Image { place, texel, .. } => {
                place.iter_mut().for_each(&mut *f);
                f(texel);
            }
            Op::Texel { place, .. } => place.iter_mut().for_each(f),
            Op::Address(address) => address.dynamic.iter_mut().for_each(f),
            Op::Instrument { values, when, .. } => values.iter_mut().chain(when).for_each(f),
            Op::ImageSize { .. }
            | Op::BufferSize(_)
            | Op::Get(_)
            | Op::Clear { .. }
            | Op::Subgroup(_)
            | Op::Unwritten
            | Op::Watched(_) => {}
        }
    }
}
