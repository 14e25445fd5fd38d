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

/// A scalar variable of the kernel that is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local(pub u32);

#[derive(Clone, Debug)]
pub struct Kernel {
    pub local_size: [u32; 3],
    /// Descriptor set and binding of each buffer, as [`Space::Buffer`] counts them.
    pub buffers: Vec<(u32, u32)>,
    /// Descriptor set and binding of each image, and of each sampler.
    pub images: Vec<(u32, u32)>,
    pub samplers: Vec<(u32, u32)>,
    /// Whether it goes to addresses of buffers.
    pub uses_addresses: bool,
    /// Bytes of push constants that the kernel may reach.
    pub push_size: u32,
    /// Bytes of memory that each workgroup shares.
    pub shared_size: u32,
    /// Whether that memory has to be zero where a workgroup begins.
    pub clears_shared: bool,
    /// Bytes of memory of each lane.
    pub frame_size: u32,
    /// Lanes of a subgroup: neighbours by their index in the workgroup.
    pub subgroup_size: u32,
    /// What the lanes of a subgroup do together, by [`Terminator::Subgroup`]. Where there is any, lanes of a
    /// workgroup may wait in different places.
    pub group_ops: Vec<GroupOp>,
    /// Memory that has a name.
    pub arrays: Vec<Array>,
    /// Whether the dispatch says in which order the lanes of a workgroup run.
    pub is_shuffled: bool,
    /// What the probes stand for, by their numbers.
    pub sites: Vec<Site>,
    /// Structs whose numbers were loaded at once. Only kernels that are checked know them.
    pub structs: Vec<Vec<Value>>,
    /// Where functions are called that are inlined, by the numbers of the calls less one.
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
    /// Its bits, zero-extended.
    Const(u64),
    Builtin(Builtin),
    Param(BlockId),
    Inst(BlockId),
}

/// The same for all of a lane's life; `u8` is the axis.
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
    /// `None` where the operation gives nothing.
    pub result: Option<Value>,
    pub line: Option<Line>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Unary(Unary, Value),
    Binary(Binary, Value, Value),
    Compare(Compare, Value, Value),
    /// The second where the first is true, else the third.
    Select(Value, Value, Value),
    Convert(Convert, Value),
    /// First times second plus third, rounded once.
    Fma(Value, Value, Value),
    /// A function of [`crate::cpu::math`].
    Call(crate::cpu::math::Function, Vec<Value>),
    /// An `I64`: where bytes `offset + constant .. + size` of a space lie, if all of them are inside.
    /// Otherwise an address whose bytes read as zero, or one where nobody looks at what was written.
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
    /// As a load, at once and never taken for an earlier one. The address is a multiple of the size.
    AtomicLoad {
        ty: Ty,
        address: Value,
    },
    /// Acts at once on the whole value at an address, which is a multiple of its size; gives what was there.
    Atomic {
        op: Atomic,
        address: Value,
        value: Value,
    },
    /// As [`Op::Atomic`], on a float of 16 bits: `value` and what was there are `F32`s that it can hold.
    AtomicHalf {
        op: Atomic,
        address: Value,
        value: Value,
    },
    /// Writes `value` where `expected` is; gives what was there.
    CompareExchange {
        address: Value,
        expected: Value,
        value: Value,
    },
    /// Something done with the texel at a place, by [`crate::cpu::images`]. `texel` is the address of 16
    /// bytes of the lane's memory. Places are ints, but floats to sample.
    Image {
        image: u32,
        action: ImageAction,
        place: [Value; 3],
        texel: Value,
    },
    /// An `I64`: where the four bytes of a texel lie; as for [`Op::Address`] where there is none.
    Texel {
        image: u32,
        place: [Value; 3],
    },
    /// An `I32`: texels along an axis.
    ImageSize {
        image: u32,
        axis: u8,
    },
    /// An `I64`: bytes of a buffer binding.
    BufferSize(u32),
    Get(Local),
    Set(Local, Value),
    /// Zeroes bytes `start .. start + size` of the lane's memory, both multiples of 8.
    Clear {
        start: u32,
        size: u32,
    },
    /// The active lanes of each subgroup do what they would at [`Terminator::Subgroup`]. Only in kernels for gangs of
    /// whole subgroups, which [`super::meetings`] makes.
    Subgroup(SubgroupOp),
    /// A `Bool`: whether the workgroup that runs may have left some of its shared memory unwritten, as the
    /// observer of the dispatch knows.
    Unwritten,
    /// A `Bool`: whether the observer wants to be told of accesses to a buffer in this dispatch; images are counted
    /// behind the buffers.
    Watched(u32),
    /// Tells the observer of the dispatch these values, if the condition is true or there is none. It is never
    /// moved, merged or left out: the number is that of a site in [`Kernel::probes`].
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
    /// One channel of the four texels that a linear filter would weigh, against the clock from the lower left
    /// one: x low and y high, both high, x high and y low, both low.
    Gather {
        sampler: u32,
        channel: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Address {
    pub space: Space,
    /// An `I64` in bytes, at most 2^62 away from zero; any address where the space is the device.
    pub dynamic: Option<Value>,
    pub constant: u64,
    pub size: u32,
    pub access: crate::Access,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Buffer(u32),
    /// Any buffer of the device; offsets are addresses.
    Device,
    Push,
    Shared,
    /// The lane's own memory from byte `start`, `size` bytes of it.
    Frame {
        start: u32,
        size: u32,
    },
}

/// Lanes that wait at one and the same operation, in the same round of every loop round it, are its active
/// lanes.
#[derive(Clone, Debug)]
pub struct GroupOp {
    pub kind: GroupKind,
    /// Where operands lie in the lane's memory, eight bytes each, and afterwards the results.
    pub slots: u32,
    /// Components of the value that is passed around; a scalar beside it comes behind them.
    pub n: u32,
    /// Where the lane counts its rounds of the loops round it, outermost first, four bytes each.
    pub rounds: u32,
    /// The loops round it, outermost first, by their first blocks.
    pub loops: Vec<BlockId>,
    /// Of two operations in one round of the same loops, lanes at the one with the smaller place go first.
    pub place: u32,
}

/// A [`GroupOp`] as an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubgroupOp {
    /// Its number in the kernel as it was lowered.
    pub number: u32,
    pub kind: GroupKind,
    pub slots: u32,
    pub n: u32,
}

/// Scalars say what the bits of a lane value stand for: narrow ones lie zero-extended in `I32`, or exactly in `F32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// Waiting is all.
    Barrier,
    /// A boolean: true for the first active lane.
    Elect,
    /// Of a boolean.
    All,
    Any,
    /// Whether all active lanes have equal values.
    AllEqual(Scalar),
    /// Four words with a bit for each active lane whose boolean is true.
    Ballot,
    /// The value of another lane; one's own where that lane is not active.
    Read(Source),
    /// Over the active lanes, or those before this one among them.
    Fold(Fold, Scalar, Span),
    /// The product of two matrices and a third added: the lane's components of each, one behind the other.
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

/// What becomes of an int sum that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    Wraps,
    Saturates,
}

/// Which lane's value is read. All but the first have an `I32` as a last operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    First,
    Lane,
    Xor,
    /// So many before.
    Up,
    Down,
    /// So many behind, coming round within clusters of a size.
    Rotate(u32),
    /// A lane of the own quad.
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
    /// Over each so many neighbours.
    Clustered(u32),
}

impl Kernel {
    /// Whether its lanes have to run one by one, in the order that is asked for.
    pub fn runs_one_by_one(&self) -> bool {
        self.is_shuffled || self.is_profiled()
    }

    /// Whether what its lines cost is counted.
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
