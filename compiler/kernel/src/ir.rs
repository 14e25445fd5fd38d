//! The typed form of a kernel, between the syntax tree and SPIR-V.
//!
//! Values are nodes: each is computed once, where its `Stmt::Eval` stands, and used by number below
//! that place, inside the same block or one nested in it. Constants need no place. Control flow is a
//! tree of statements. What changes over time lives in locals: a node never does.
//!
//! Absent on purpose: phis (a merge stores to a local on the ways that lead to it, which drivers turn
//! into phis), weak literals and implicit conversions (lowering made them explicit), pointers (a place
//! in memory is a local or a buffer with indices). Every node and local has its type and span.

use std::ops::Index;

use kps_syntax::ast::Name;
use kps_syntax::{Location, Source, Span};
use rustc_hash::FxHashMap;

pub use crate::builtins::{AtomicOp, Combine, FloatFn, Spread, SubgroupOp};
use crate::constant::Constant;
use crate::matrices::CoopType;
use crate::push::PushLayout;
use crate::signature::{Edge, Memory, Reach, Width};
use crate::stages::{self, Stage};
use crate::template::Input;
use crate::textures::TextureType;
use crate::types::Type;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            pub fn idx(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A value of one function.
    NodeId
}
id! {
    /// A variable of one function.
    LocalId
}
id! {
    /// An array parameter of the kernel.
    BufferId
}
id! {
    /// An array that a workgroup has in common.
    SharedId
}
id! {
    /// A scalar parameter of the kernel.
    ScalarId
}
id! {
    /// A texture parameter of the kernel.
    TextureId
}
id! {
    /// A sampler parameter of the kernel.
    SamplerId
}
id! {
    /// An input or an output of a vertex or fragment function.
    PortId
}
id! {
    /// A function; callees come before their callers.
    FunctionId
}
id! {
    /// The stores on one way into a merge.
    CarryId
}

#[derive(Debug)]
pub struct Kernel {
    pub stage: Stage,
    pub local_size: [u32; 3],
    /// It is launched over a domain, `kps.domain`.
    pub has_domain: bool,
    pub edge: Edge,
    /// Of the invocations that `kps.domain` says.
    pub ids: Width,
    pub memory: Memory,
    /// It waits at barriers: a launch is of whole workgroups, and the domain needs no guard.
    pub whole_groups: bool,
    pub precise: bool,
    pub buffers: Vec<Buffer>,
    pub shared: Vec<Shared>,
    pub scalars: Vec<ScalarParam>,
    pub(crate) push: PushLayout,
    pub textures: Vec<Texture>,
    pub samplers: Vec<SamplerParam>,
    pub ports: Vec<Port>,
    /// The kernel itself is the last one.
    pub functions: Vec<Function>,
}

#[derive(Debug)]
pub struct Buffer {
    pub name: Name,
    pub param_idx: usize,
    pub set: u32,
    pub binding: u32,
    pub element: Type,
    /// Axes. The shape of one with a single axis is its length, which the device knows.
    pub rank: u8,
    pub reach: Reach,
    /// One value, which kernels only read.
    pub is_uniform: bool,
    /// Of its elements.
    pub counts: Width,
    pub span: Span,
}

impl Buffer {
    /// Whether `kps.len` says how many elements there are: a descriptor says it in 32 bits, an address not
    /// at all.
    pub fn is_told_its_len(&self) -> bool {
        self.reach == Reach::Address || self.counts == Width::Wide
    }
}

/// Memory of a workgroup. Locals stand for it in the functions that use it.
#[derive(Debug)]
pub struct Shared {
    pub name: Name,
    pub ty: Type,
}

#[derive(Debug)]
pub struct ScalarParam {
    pub name: Name,
    pub param_idx: usize,
    pub ty: Type,
    pub span: Span,
}

#[derive(Debug)]
pub struct Texture {
    pub name: Name,
    pub param_idx: usize,
    pub set: u32,
    pub binding: u32,
    pub(crate) ty: TextureType,
    pub span: Span,
    /// Bound as a sampled image; otherwise as a storage image.
    pub is_sampled: bool,
}

#[derive(Debug)]
pub struct SamplerParam {
    pub name: Name,
    pub param_idx: usize,
    pub set: u32,
    pub binding: u32,
    pub span: Span,
}

#[derive(Debug)]
pub struct Port {
    pub name: Name,
    pub port: stages::Port,
    pub span: Span,
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub source: Source,
    pub span: Span,
    pub args: Vec<Arg>,
    pub result: Type,
    pub locals: Vec<Local>,
    pub nodes: Vec<Node>,
    pub carries: Vec<Vec<(LocalId, NodeId)>>,
    /// For flat indices of arrays of several axes, index and length along each; where the target checks.
    pub axes: FxHashMap<NodeId, Vec<(NodeId, NodeId)>>,
    pub body: Block,
    /// The place in the user's source that called for it, where it is a function of `library`. Its
    /// instructions belong to that place, and none of them may be contracted.
    pub called_for: Option<Location>,
}

/// How an argument arrives.
#[derive(Debug, Clone)]
pub enum Arg {
    Value {
        name: Name,
        ty: Type,
    },
    /// The caller's array itself: this local stands for it.
    Reference(LocalId),
}

#[derive(Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
    pub span: Span,
    pub home: Home,
}

/// Where a local lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    Own,
    /// It is an array of the caller's.
    Caller,
    /// It is an array of the workgroup's.
    Workgroup(SharedId),
}

#[derive(Debug, Clone)]
pub struct Node {
    pub kind: NodeKind,
    pub ty: Type,
    pub span: Span,
    /// The variable that it was first assigned to.
    pub name: Option<Name>,
}

#[derive(Debug, Clone)]
pub enum NodeKind {
    // Values from outside.
    Constant(Constant),
    Input(Input),
    /// What came into a vertex or fragment function.
    Port(PortId),
    /// The invocations asked for: `kps.domain`.
    Domain,
    Scalar(ScalarId),
    /// The function's own argument, by its place in `args`.
    Arg(u32),

    // Arithmetic, component by component; operands have the node's own type.
    Unary(UnaryOp, NodeId),
    Binary(BinaryOp, NodeId, NodeId),
    /// Gives bools.
    Compare(CompareOp, NodeId, NodeId),
    /// To another scalar type of as many components: ints wrap, floats saturate.
    Convert(NodeId),
    /// The same bits as another type of the same width.
    Bitcast(NodeId),
    /// An index that is proven to lie inside what it is an index of.
    Proven(NodeId),
    /// The condition is a bool, or one for each component.
    Select {
        condition: NodeId,
        then: NodeId,
        orelse: NodeId,
    },
    Float(FloatFn, [Option<NodeId>; 3]),
    Abs(NodeId),
    Sign(NodeId),
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
        index: NodeId,
        path: Vec<Step>,
    },
    /// All elements of it.
    BufferLen(BufferId),
    /// The length of one axis of a buffer with several.
    BufferAxis {
        buffer: BufferId,
        axis: u8,
    },

    /// Gives what the element was; `Void` for a store.
    Atomic(Box<Atomic>),

    /// What the active invocations of the subgroup make of their values; a lane is a u32.
    Subgroup {
        op: SubgroupOp,
        value: Option<NodeId>,
        lane: Option<NodeId>,
    },

    /// A cooperative matrix that lies in memory, all of it.
    CoopLoad(Box<CoopPlace>),
    /// A cooperative matrix, `a` times `b` added to it.
    CoopMultiplyAdd {
        sum: NodeId,
        a: NodeId,
        b: NodeId,
    },
    /// How many components an invocation holds of one: a u32.
    CoopLength(CoopType),

    /// The same value, which the script says is the same in every invocation of the workgroup.
    Uniform(NodeId),
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

/// One step into what is made of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A member, a component or an element that is there.
    Part(u32),
    /// An element or a component, known at run time.
    At(NodeId),
}

/// One element, changed at once whoever else is at it. Out of range, nothing happens and 0 comes out.
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
    Buffer {
        buffer: BufferId,
        index: NodeId,
    },
    /// The local stands for memory of the workgroup.
    Shared {
        local: LocalId,
        path: Vec<Step>,
    },
}

/// Where a cooperative matrix lies.
#[derive(Debug, Clone)]
pub struct CoopPlace {
    pub memory: CoopMemory,
    /// Of its first element, inside.
    pub start: NodeId,
    /// Elements from line to line; its type is that of `start`.
    pub stride: NodeId,
    pub lines: CoopLines,
}

#[derive(Debug, Clone, Copy)]
pub enum CoopMemory {
    Buffer(BufferId),
    /// The local stands for an array of the workgroup.
    Shared(LocalId),
}

/// What lies together of a cooperative matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoopLines {
    Rows,
    Columns,
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

pub type Block = Vec<Stmt>;

#[derive(Debug)]
pub enum Stmt {
    /// Here the node is computed.
    Eval(NodeId),
    Store {
        local: LocalId,
        value: NodeId,
        span: Span,
    },
    StoreElement {
        local: LocalId,
        path: Vec<Step>,
        value: NodeId,
        span: Span,
    },
    BufferStore {
        buffer: BufferId,
        index: NodeId,
        path: Vec<Step>,
        value: NodeId,
        span: Span,
    },
    /// All of a cooperative matrix.
    CoopStore {
        place: Box<CoopPlace>,
        value: NodeId,
        span: Span,
    },
    /// From `print` or `assert`, or of a trace.
    Record(Box<Record>),
    /// The value has four components.
    TextureWrite {
        texture: TextureId,
        at: NodeId,
        value: NodeId,
        span: Span,
    },
    /// What goes out of a vertex or fragment function.
    PortStore {
        port: PortId,
        value: NodeId,
        span: Span,
    },
    /// The stores of a way into a merge; most are empty.
    Carry(CarryId),
    /// Every invocation of the workgroup passes here, or none.
    Together(Together, Span),
    If {
        condition: NodeId,
        then: Block,
        orelse: Block,
        span: Span,
    },
    Loop(Box<Loop>),
    Break,
    Continue,
    Return(Option<NodeId>, Span),
    /// Ends a fragment, which leaves no trace.
    Discard(Span),
}

/// What a workgroup does as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// Waits for every invocation, and shows each what the others stored.
    Barrier,
    /// The call that follows works on a cooperative matrix.
    CoopMatrix,
}

impl Together {
    /// In messages.
    pub fn name(self) -> &'static str {
        match self {
            Together::Barrier => "a `barrier`",
            Together::CoopMatrix => "an operation on a cooperative matrix",
        }
    }
}

/// Text for the host with values in it: numbers of 32 or 64 bits, and bools.
#[derive(Debug)]
pub struct Record {
    pub kind: RecordKind,
    /// As `lower/record.rs` says.
    pub template: String,
    pub values: Vec<NodeId>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    Print,
    Assert,
    /// What an assignment assigned.
    Trace,
}

#[derive(Debug)]
pub struct Loop {
    /// Computes the condition, before each round.
    pub test: Block,
    /// The loop ends when it is false; `None` loops until a `Break`.
    pub condition: Option<NodeId>,
    pub body: Block,
    /// Runs after the body and on `Continue`.
    pub step: Block,
    pub span: Span,
}

impl Function {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.idx()]
    }

    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.idx()]
    }

    pub fn ty(&self, id: NodeId) -> &Type {
        &self.nodes[id.idx()].ty
    }

    pub fn constant(&self, id: NodeId) -> Option<Constant> {
        match self.nodes[id.idx()].kind {
            NodeKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }
}

impl Index<NodeId> for Function {
    type Output = Node;

    fn index(&self, id: NodeId) -> &Node {
        self.node(id)
    }
}

/// The nodes that a path uses.
pub(crate) fn steps(path: &[Step]) -> impl Iterator<Item = NodeId> {
    path.iter().filter_map(|step| match step {
        Step::Part(_) => None,
        Step::At(index) => Some(*index),
    })
}

impl Kernel {
    /// The functions that the kernel reaches; others were compiled on a guess that was wrong.
    pub fn reached(&self) -> Vec<bool> {
        let n_functions = self.functions.len();
        let mut reached = vec![false; n_functions];
        reached[n_functions - 1] = true;
        // Callees come before their callers, so one sweep from the back sees every call.
        for at in (0..n_functions).rev() {
            if !reached[at] {
                continue;
            }
            for node in &self.functions[at].nodes {
                if let NodeKind::Call { function, .. } = node.kind {
                    reached[function.idx()] = true;
                }
            }
        }
        reached
    }

    /// Whether it works on matrices that the device holds.
    pub fn has_matrices(&self) -> bool {
        let reached = self.functions.iter().zip(self.reached()).filter(|(_, reached)| *reached);
        let mut nodes = reached.flat_map(|(function, _)| &function.nodes);
        nodes.any(|node| matches!(node.ty, Type::Coop(_)))
    }

    /// Whether an invocation may lie beyond the domain.
    pub fn is_guarded(&self) -> bool {
        self.has_domain && !self.whole_groups && self.edge == Edge::Partial
    }

    /// Whether an invocation may come to wait for its workgroup.
    pub fn has_barrier(&self) -> bool {
        let reached = self.reached();
        let functions = self.functions.iter().zip(reached).filter(|(_, reached)| *reached);
        let mut has_barrier = false;
        for (function, _) in functions {
            walk(&function.body, &mut |stmt| has_barrier |= matches!(stmt, Stmt::Together(..)));
        }
        has_barrier
    }
}

/// Calls `visit` for every statement of a block, those inside of others included.
pub(crate) fn walk<'b>(block: &'b Block, visit: &mut dyn FnMut(&'b Stmt)) {
    for stmt in block {
        visit(stmt);
        match stmt {
            Stmt::If { then, orelse, .. } => {
                walk(then, visit);
                walk(orelse, visit);
            }
            Stmt::Loop(parts) => {
                walk(&parts.test, visit);
                walk(&parts.body, visit);
                walk(&parts.step, visit);
            }
            _ => {}
        }
    }
}

/// Control does not go on after this statement.
pub(crate) fn is_terminator(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Break | Stmt::Continue | Stmt::Return(..) | Stmt::Discard(_))
}

impl NodeKind {
    /// Calls `visit` for every node that this one uses.
    pub fn operands(&self, visit: &mut dyn FnMut(NodeId)) {
        match self {
            NodeKind::Constant(_)
            | NodeKind::Input(_)
            | NodeKind::Port(_)
            | NodeKind::Domain
            | NodeKind::Scalar(_)
            | NodeKind::Arg(_)
            | NodeKind::Load(_)
            | NodeKind::BufferLen(_)
            | NodeKind::CoopLength(_)
            | NodeKind::BufferAxis { .. } => {}
            NodeKind::Unary(_, a)
            | NodeKind::Convert(a)
            | NodeKind::Bitcast(a)
            | NodeKind::Proven(a)
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
            | NodeKind::TextureSample { at: a, .. } => visit(*a),
            NodeKind::Binary(_, a, b)
            | NodeKind::Compare(_, a, b)
            | NodeKind::Dot(a, b)
            | NodeKind::ExtractAt { whole: a, index: b }
            | NodeKind::Insert { whole: a, value: b, .. } => {
                visit(*a);
                visit(*b);
            }
            NodeKind::Select { condition: a, then: b, orelse: c }
            | NodeKind::CoopMultiplyAdd { sum: a, a: b, b: c }
            | NodeKind::InsertAt { whole: a, value: b, index: c } => {
                visit(*a);
                visit(*b);
                visit(*c);
            }
            NodeKind::Float(_, args) => args.iter().flatten().for_each(|arg| visit(*arg)),
            NodeKind::Construct(parts) | NodeKind::Geometry(_, parts) => {
                parts.iter().for_each(|part| visit(*part));
            }
            NodeKind::LoadElement { path, .. } => steps(path).for_each(visit),
            NodeKind::CoopLoad(place) => {
                visit(place.start);
                visit(place.stride);
            }
            NodeKind::BufferLoad { index, path, .. } => {
                visit(*index);
                steps(path).for_each(visit);
            }
            NodeKind::Subgroup { value, lane, .. } => value.iter().chain(lane).for_each(|node| visit(*node)),
            NodeKind::Atomic(atomic) => {
                match &atomic.place {
                    AtomicPlace::Buffer { index, .. } => visit(*index),
                    AtomicPlace::Shared { path, .. } => steps(path).for_each(&mut *visit),
                }
                atomic.value.iter().chain(&atomic.expected).for_each(|node| visit(*node));
            }
            NodeKind::Call { args, .. } => {
                for arg in args {
                    if let CallArg::Value(value) = arg {
                        visit(*value);
                    }
                }
            }
        }
    }
}
