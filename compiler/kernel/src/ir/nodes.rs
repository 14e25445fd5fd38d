//! The kinds of nodes: operations with their operands.

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::functions::{AtomicOp, FloatFn, MathFn, SubgroupOp};
use super::{BufferId, CoopPlace, FunctionId, LocalId, NodeId, PortId, SamplerId, ScalarId, TextureId};
use crate::constant::Constant;
use crate::matrices::CoopType;
use crate::template::Input;
use crate::types::Type;

#[derive(Debug, Clone)]
pub struct Node {
    pub kind: NodeKind,
    pub ty: Type,
    pub span: Span,
    /// The variable that it was first assigned to.
    pub name: Option<Name>,
    pub origin: Origin,
}

/// Where an operation comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Origin {
    /// The source.
    #[default]
    Source,
    /// The compiler added it, such as the counter of a loop. Its arithmetic may wrap.
    Compiler,
    /// It is a step of an operation of the source that takes several nodes.
    Step,
    /// It is the result of such an operation, with these operands.
    Result(Box<[NodeId]>),
}

#[derive(Debug, Clone)]
pub enum NodeKind {
    // Values from outside.
    Constant(Constant),
    /// The constant, computed from an input of the launch, so that no optimizer can know it: an optimization barrier.
    /// A float, a bool or an unsigned 0; in kernels alone. Like a constant it needs no `Eval`.
    Opaque(Constant),
    Input(Input),
    /// An input of a vertex or fragment function.
    Port(PortId),
    /// The domain of the launch: `kps.domain`.
    Domain,
    Scalar(ScalarId),
    /// The function's own argument, by its place in `args`.
    Arg(u32),

    // Arithmetic, component by component; operands have the node's own type.
    Unary(UnaryOp, NodeId),
    /// Of a u32, or of each component of a vector of them.
    Bits(BitsOp, NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    /// A base to the power of an exponent: of the base's type, or a constant scalar. Lowering leaves none.
    Power(NodeId, NodeId),
    /// Gives bools.
    Compare(CompareOp, NodeId, NodeId),
    /// To another scalar type of as many components: ints wrap, floats saturate.
    Convert(NodeId),
    /// The same bits as another type of the same width.
    Bitcast(NodeId),
    /// An index of which something is proven.
    Proven(Proof, NodeId),
    /// The condition is a bool, or one for each component.
    Select {
        condition: NodeId,
        then: NodeId,
        orelse: NodeId,
    },
    Float(FloatFn, [Option<NodeId>; 3]),
    /// A function for arguments of one type, except for further ints. Lowering leaves none.
    Math(&'static MathFn, Vec<NodeId>),
    Abs(NodeId),
    Sign(NodeId),
    /// The magnitude of one float with the sign bit of another; exact for zeros and NaNs too.
    CopySign {
        magnitude: NodeId,
        sign: NodeId,
    },
    IsNan(NodeId),
    IsInf(NodeId),

    // Vectors, arrays, structs and tuples as values.
    Splat(NodeId),
    /// From all of its parts.
    Construct(Vec<NodeId>),
    Extract(NodeId, u32),
    /// Of a vector or an array; reads 0 out of range.
    ExtractAt {
        whole: NodeId,
        index: NodeId,
    },
    Insert {
        whole: NodeId,
        value: NodeId,
        part: u32,
    },
    /// Leaves the vector or array as it is out of range.
    InsertAt {
        whole: NodeId,
        value: NodeId,
        index: NodeId,
    },
    Swizzle(NodeId, Vec<u32>),
    Dot(NodeId, NodeId),
    All(NodeId),
    Any(NodeId),
    Geometry(GeometryFn, Vec<NodeId>),

    // Memory. Out of range, loads read 0 and stores are dropped.
    Load(LocalId),
    LoadElement {
        local: LocalId,
        path: Vec<Step>,
    },
    /// A part of an element, or all of it where the path is empty.
    BufferLoad {
        buffer: BufferId,
        index: ElementIndex,
        path: Vec<Step>,
        bounds: BoundsCheck,
    },
    /// All elements of it.
    BufferLen(BufferId),
    /// Whether an index is in range: a bool.
    IsInside {
        of: Extent,
        index: ElementIndex,
    },
    /// The length of one axis of a buffer with several.
    BufferAxis {
        buffer: BufferId,
        axis: u8,
    },

    /// Gives the old element; `Void` for a store.
    Atomic(Box<Atomic>),

    /// An operation over the values of the active invocations of the subgroup; a lane is a u32.
    Subgroup {
        op: SubgroupOp,
        value: Option<NodeId>,
        lane: Option<NodeId>,
    },

    /// A whole cooperative matrix in memory.
    CoopLoad(Box<CoopPlace>),
    /// A cooperative matrix, `a` times `b` added to it.
    CoopMultiplyAdd {
        sum: NodeId,
        a: NodeId,
        b: NodeId,
    },
    /// How many components an invocation holds of one: a u32.
    CoopLength(CoopType),

    /// The same value, which the script declares uniform in the workgroup.
    Uniform(NodeId),
    /// Texels along each axis, that of x first: an i32, or a vector of them.
    TextureSize(TextureId),
    /// Four components of a texel.
    TextureRead {
        texture: TextureId,
        at: NodeId,
    },
    TextureSample {
        texture: TextureId,
        sampler: SamplerId,
        at: NodeId,
    },

    Call {
        function: FunctionId,
        args: Vec<CallArg>,
    },
}

/// The place of an element in an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementIndex {
    /// The element's number: in an array of one axis, the index along it.
    Flat(NodeId),
    /// The element's number where the bool `fits` holds. Elsewhere the number overflowed, and is out of range.
    Tested { flat: NodeId, fits: NodeId },
    /// An index along each of several axes. `passes/flatten.rs` leaves none.
    Axes(Box<AxisIndices>),
}

/// The indices of an element in an array of several axes, each an int of its own type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisIndices {
    pub indices: Box<[NodeId]>,
    pub number: NumberFact,
}

/// What is proven of the number of an element, which the indices along all axes give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum NumberFact {
    /// It may overflow.
    #[default]
    MayOverflow,
    /// It does not overflow.
    Exact,
    /// It may be out of range, but not so far that the byte offset overflows.
    Near,
    /// Each index is in range along its axis.
    InRange,
}

impl ElementIndex {
    /// An int for each axis.
    pub fn new(indices: impl Into<Box<[NodeId]>>) -> ElementIndex {
        let indices = indices.into();
        match *indices {
            [index] => ElementIndex::Flat(index),
            _ => ElementIndex::Axes(Box::new(AxisIndices { indices, number: NumberFact::default() })),
        }
    }

    /// The indices along the axes, or the element's number if only that is left.
    pub fn indices(&self) -> &[NodeId] {
        match self {
            ElementIndex::Flat(flat) | ElementIndex::Tested { flat, .. } => std::slice::from_ref(flat),
            ElementIndex::Axes(axes) => &axes.indices,
        }
    }

    /// The element's number, in a verified kernel.
    pub fn number(&self) -> NodeId {
        match self {
            ElementIndex::Flat(flat) | ElementIndex::Tested { flat, .. } => *flat,
            ElementIndex::Axes(_) => unreachable!("verified: an element has its number"),
        }
    }

    fn nodes(&self) -> impl Iterator<Item = &NodeId> {
        let fits = match self {
            ElementIndex::Tested { fits, .. } => Some(fits),
            _ => None,
        };
        self.indices().iter().chain(fits)
    }

    pub(super) fn nodes_mut(&mut self) -> impl Iterator<Item = &mut NodeId> {
        let (indices, fits) = match self {
            ElementIndex::Flat(flat) => (std::slice::from_mut(flat), None),
            ElementIndex::Tested { flat, fits } => (std::slice::from_mut(flat), Some(fits)),
            ElementIndex::Axes(axes) => (&mut axes.indices[..], None),
        };
        indices.iter_mut().chain(fits)
    }
}

impl From<NodeId> for ElementIndex {
    fn from(flat: NodeId) -> ElementIndex {
        ElementIndex::Flat(flat)
    }
}

/// The bounds test of a load from a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundsCheck {
    /// The device, if it has robust access; else the module.
    Device,
    /// The module, on every device.
    Words,
}

/// What is proven of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// It is in range.
    InRange,
    /// It may be out of range, but not so far that the byte offset overflows.
    Near,
}

/// What an index counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The elements of a buffer.
    Elements(BufferId),
    /// So many parts of a value.
    Parts(u32),
}

/// One step from a value to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A member, a component, a column or an element that is there.
    Part(u32),
    /// An element, a component or a column, known at run time.
    At(NodeId),
}

impl Step {
    /// The number of the part, or that of the first one.
    pub fn part(self) -> u32 {
        match self {
            Step::Part(at) => at,
            Step::At(_) => 0,
        }
    }

    /// The name of the part of such a type, if it has one.
    fn member_name(self, ty: &Type) -> Option<String> {
        match (ty, self) {
            (Type::Struct(of), Step::Part(at)) => Some(of.members[at as usize].name.to_string()),
            (Type::Vector(..), Step::Part(at)) => {
                ["x", "y", "z", "w"].get(at as usize).map(|name| (*name).into())
            }
            _ => None,
        }
    }
}

/// The type at the end of a path from this type, in a verified kernel.
pub fn part_at(ty: &Type, path: &[Step]) -> Type {
    let part =
        |ty: Type, step: &Step| ty.part(step.part()).expect("verified: a path leads from part to part");
    path.iter().fold(ty.clone(), part)
}

/// Steps as the source writes them.
pub(crate) enum Written {
    Member(String),
    /// Into one array, vector or matrix: along each axis the index, or `None` for all along it, and the axis's length.
    Indices(Vec<(Option<Step>, u32)>),
}

/// A path from this type in the source's form. Arrays of arrays have one index with several axes; the row of a matrix
/// is first.
pub(crate) fn as_written(ty: &Type, path: &[Step]) -> Vec<Written> {
    let (mut ty, mut written) = (ty.clone(), Vec::new());
    let (mut before, mut path) = (Type::Void, path.iter().copied());
    while let Some(step) = path.next() {
        let index = (Some(step), ty.n_parts().unwrap_or(0));
        let part = ty.part(step.part()).expect("a path leads from part to part");
        let whole = std::mem::replace(&mut ty, part);
        match (step.member_name(&whole), written.last_mut()) {
            (Some(name), _) => written.push(Written::Member(name)),
            _ if whole.is_matrix() => {
                let row = path.next();
                let n_rows = ty.n_parts().unwrap_or(0);
                written.push(Written::Indices(vec![(row, n_rows), index]));
            }
            (None, Some(Written::Indices(axes)))
                if matches!((&before, &whole), (Type::Array(_), Type::Array(_))) =>
            {
                axes.push(index);
            }
            _ => written.push(Written::Indices(vec![index])),
        }
        before = whole;
    }
    written
}

/// An atomic operation on one element. Out of range it has no effect and gives 0.
#[derive(Debug, Clone)]
pub struct Atomic {
    pub op: AtomicOp,
    pub place: AtomicPlace,
    pub value: Option<NodeId>,
    /// Of a compare-exchange.
    pub expected: Option<NodeId>,
}

#[derive(Debug, Clone)]
pub enum AtomicPlace {
    /// A part of an element, or the element itself.
    Buffer { buffer: BufferId, index: ElementIndex, path: Vec<Step> },
    /// The local is shared memory of the workgroup.
    Shared { local: LocalId, path: Vec<Step> },
}

impl AtomicPlace {
    /// The place one step further.
    pub(crate) fn part(&self, at: u32) -> AtomicPlace {
        let mut part = self.clone();
        match &mut part {
            AtomicPlace::Buffer { path, .. } | AtomicPlace::Shared { path, .. } => path.push(Step::Part(at)),
        }
        part
    }
}

#[derive(Debug, Clone, Copy)]
pub enum CallArg {
    Value(NodeId),
    Reference(LocalId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Negate,
    /// Of bools.
    Not,
    /// Of ints.
    Invert,
}

/// Functions of 32 bits, which give a u32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitsOp {
    CountOnes,
    /// Counted from the lowest; -1 where there is none.
    HighestOne,
    Reverse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Of floats.
    Div,
    /// Rounds down; by zero it is 0, MIN // -1 is MIN.
    FloorDiv,
    /// Has the divisor's sign; by zero it is 0, MIN % -1 is 0.
    FloorMod,
    /// Of signed ints that are proven not negative; by zero it is 0.
    PlainDiv,
    PlainMod,
    /// Rounds toward zero, as C does; of ints.
    TruncDiv,
    /// Has the dividend's sign, as C's; of ints (by zero it is 0) and floats.
    TruncRem,
    /// The amount has the same type, and is masked to the width.
    ShiftLeft,
    ShiftRight,
    /// Of ints or bools.
    And,
    Or,
    Xor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Functions of whole vectors of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GeometryFn {
    Length,
    Distance,
    Cross,
    Normalize,
    FaceForward,
    Reflect,
    /// The third argument is a scalar.
    Refract,
}

/// The nodes that a path uses.
pub(crate) fn steps(path: &[Step]) -> impl Iterator<Item = NodeId> {
    steps_ref(path).copied()
}

fn steps_ref(path: &[Step]) -> impl Iterator<Item = &NodeId> {
    path.iter().filter_map(|step| match step {
        Step::Part(_) => None,
        Step::At(index) => Some(index),
    })
}

pub(super) fn steps_mut(path: &mut [Step]) -> impl Iterator<Item = &mut NodeId> {
    path.iter_mut().filter_map(|step| match step {
        Step::Part(_) => None,
        Step::At(index) => Some(index),
    })
}

/// Visits the operands of a node by reference: shared or mutable ones.
macro_rules! operands {
    ($kind:expr, $visit:ident, $iter:ident, $steps:ident, $nodes:ident, $($ref:tt)+) => {
        match $kind {
            NodeKind::Constant(_)
            | NodeKind::Opaque(_)
            | NodeKind::Input(_)
            | NodeKind::Port(_)
            | NodeKind::Domain
            | NodeKind::Scalar(_)
            | NodeKind::Arg(_)
            | NodeKind::Load(_)
            | NodeKind::BufferLen(_)
            | NodeKind::TextureSize(_)
            | NodeKind::CoopLength(_)
            | NodeKind::BufferAxis { .. } => {}
            NodeKind::Unary(_, a)
            | NodeKind::Bits(_, a)
            | NodeKind::Convert(a)
            | NodeKind::Bitcast(a)
            | NodeKind::Proven(_, a)
            | NodeKind::Abs(a)
            | NodeKind::Sign(a)
            | NodeKind::IsNan(a)
            | NodeKind::IsInf(a)
            | NodeKind::Splat(a)
            | NodeKind::Extract(a, _)
            | NodeKind::Swizzle(a, _)
            | NodeKind::All(a)
            | NodeKind::Any(a)
            | NodeKind::Uniform(a)
            | NodeKind::TextureRead { at: a, .. }
            | NodeKind::TextureSample { at: a, .. } => $visit(a),
            NodeKind::Binary(_, a, b)
            | NodeKind::Power(a, b)
            | NodeKind::Compare(_, a, b)
            | NodeKind::Dot(a, b)
            | NodeKind::CopySign { magnitude: a, sign: b }
            | NodeKind::ExtractAt { whole: a, index: b }
            | NodeKind::Insert { whole: a, value: b, .. } => {
                $visit(a);
                $visit(b);
            }
            NodeKind::Select { condition: a, then: b, orelse: c }
            | NodeKind::CoopMultiplyAdd { sum: a, a: b, b: c }
            | NodeKind::InsertAt { whole: a, value: b, index: c } => {
                $visit(a);
                $visit(b);
                $visit(c);
            }
            NodeKind::Float(_, args) => args.$iter().flatten().for_each(|arg| $visit(arg)),
            NodeKind::Construct(parts) | NodeKind::Math(_, parts) | NodeKind::Geometry(_, parts) => {
                parts.$iter().for_each(|part| $visit(part));
            }
            NodeKind::LoadElement { path, .. } => $steps(path).for_each(|index| $visit(index)),
            NodeKind::CoopLoad(place) => {
                $visit($($ref)+ place.start);
                $visit($($ref)+ place.stride);
            }
            NodeKind::IsInside { index, .. } => index.$nodes().for_each(|node| $visit(node)),
            NodeKind::BufferLoad { index, path, .. } => {
                index.$nodes().for_each(|node| $visit(node));
                $steps(path).for_each(|index| $visit(index));
            }
            NodeKind::Subgroup { value, lane, .. } => {
                value.$iter().chain(lane.$iter()).for_each(|node| $visit(node));
            }
            NodeKind::Atomic(atomic) => {
                match $($ref)+ atomic.place {
                    AtomicPlace::Buffer { index, path, .. } => {
                        index.$nodes().for_each(|node| $visit(node));
                        $steps(path).for_each(|index| $visit(index));
                    }
                    AtomicPlace::Shared { path, .. } => $steps(path).for_each(|index| $visit(index)),
                }
                atomic.value.$iter().for_each(|node| $visit(node));
                atomic.expected.$iter().for_each(|node| $visit(node));
            }
            NodeKind::Call { args, .. } => {
                for arg in args {
                    if let CallArg::Value(value) = arg {
                        $visit(value);
                    }
                }
            }
        }
    };
}

impl NodeKind {
    /// Calls `visit` for every node that this one uses.
    pub fn operands(&self, visit: &mut dyn FnMut(NodeId)) {
        let mut visit = |node: &NodeId| visit(*node);
        operands!(self, visit, iter, steps_ref, nodes, &);
    }

    /// Calls `visit` for every node that this one uses, to replace it.
    pub(crate) fn operands_mut(&mut self, visit: &mut dyn FnMut(&mut NodeId)) {
        operands!(self, visit, iter_mut, steps_mut, nodes_mut, &mut);
    }
}
