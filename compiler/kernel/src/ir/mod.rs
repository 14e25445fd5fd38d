//! The typed form of a kernel, between the syntax tree and SPIR-V.
//!
//! Values are nodes. A node is computed once, at its `Stmt::Eval`, and used by id after it, in the same block or a
//! nested one. Constants need no `Eval`. Control flow is a tree of statements. Mutable state is in locals; a node
//! never changes.
//!
//! Absent on purpose: phis (each path into a merge stores to a local, and drivers make phis of that), weakly typed
//! literals and implicit conversions (inference makes them explicit), and pointers (a place in memory is a local or a
//! buffer with indices). Every node and local has a type and a span.

pub(crate) mod build;
mod coop;
mod functions;
pub(crate) mod ids;
mod nodes;
pub(crate) mod params;
mod place;
mod print;
mod statements;
pub(crate) mod text;

use std::ops::Index;
use std::rc::Rc;

use kps_syntax::ast::Name;
use kps_syntax::{Location, Source, Span};

pub use self::coop::*;
pub use self::functions::*;
pub use self::ids::*;
pub use self::nodes::*;
pub use self::params::*;
pub use self::place::*;
pub use self::statements::*;

use crate::constant::Constant;
use crate::index_range::IndexLimits;
use crate::launch::{BoundaryTest, LaunchAssumptions};
use crate::push::PushLayout;
use crate::stages::Stage;
use crate::type_expr::Width;
use crate::types::{Scalar, Type};

#[derive(Debug)]
pub struct Kernel {
    pub stage: Stage,
    pub local_size: [u32; 3],
    /// It is launched over a domain, `kps.domain`.
    pub has_domain: bool,
    pub assumptions: LaunchAssumptions,
    /// Of the indices that the module does not test.
    pub index_limits: IndexLimits,
    /// It has barriers: a launch has whole workgroups, and needs no boundary test.
    pub whole_groups: bool,
    pub precise: bool,
    /// Invocations of a subgroup, if the kernel requires a number.
    pub subgroup_size: Option<u32>,
    pub entry: Entry,
    pub conversions: Conversions,
    pub buffers: Vec<Buffer>,
    pub shared: Vec<Shared>,
    pub scalars: Vec<ScalarParam>,
    /// Of its parameters; empty before `passes/parameters.rs`.
    pub(crate) push: PushLayout,
    pub textures: Vec<Texture>,
    pub samplers: Vec<SamplerParam>,
    pub ports: Vec<Port>,
    /// The kernel itself is the last one.
    pub functions: Vec<Function>,
}

/// The function that a device enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The kernel itself.
    Kernel,
    /// A wrapper: a function that calls the kernel and does nothing else.
    Wrapper,
}

/// How numbers are converted, by `Convert` and inside other operations: negations of narrow ints, narrow ints in shared
/// memory, 64-bit indices, and narrow parameters, which are passed in 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversions {
    /// Ints of 8 and 16 bits to more bits.
    pub narrow_ints: WidenBy,
    /// An i32 to 64 bits.
    pub i32: WidenBy,
    /// Floats to f16.
    pub f16: RoundBy,
}

impl Conversions {
    pub const PLAIN: Conversions = Conversions {
        narrow_ints: WidenBy::Instruction,
        i32: WidenBy::Instruction,
        f16: RoundBy::Instruction,
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WidenBy {
    /// One that extends by the sign or by zeros.
    Instruction,
    /// The bits are extended by zeros, and arithmetic puts the sign right.
    Arithmetic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoundBy {
    Instruction,
    /// The bits of the instruction's result are combined with those of an opaque zero, so that no optimizer knows their
    /// origin. In kernels alone.
    OpaqueBits,
}

#[derive(Debug, Clone)]
pub struct Function {
    pub name: Name,
    pub source: Source,
    pub span: Span,
    pub args: Vec<Arg>,
    pub result: Type,
    pub locals: Vec<Local>,
    pub nodes: Vec<Node>,
    pub carries: Vec<Vec<(LocalId, NodeId)>>,
    /// The arrays that are selected at run time.
    pub choices: Vec<Choice>,
    pub body: Block,
    /// For a library function, the first call in the script. Its instructions have no lines of their own, and none
    /// may be contracted.
    pub called_for: Option<Location>,
    /// A library function whose steps are what the script wrote: `a ** n`, `sum(xs)`, `coop_load(..)`.
    pub is_operator: bool,
}

/// One of several array parameters, which are alike in their elements and axes.
#[derive(Debug, Clone)]
pub struct Choice {
    pub name: Name,
    pub among: Rc<[BufferId]>,
    /// An i32: the array's place in [`Kernel::buffers`].
    pub selector: NodeId,
    /// Of its elements.
    pub counts: Width,
}

/// The indices along the outer axes of an array, and the signed index along the last one. An unsigned last index, which
/// may exceed an i32, is among the others.
pub(crate) fn outer_and_last<'i>(
    function: &Function,
    indices: &'i [NodeId],
) -> (&'i [NodeId], Option<NodeId>) {
    let is_signed = |index: NodeId| function.ty(index).scalar().is_some_and(Scalar::is_signed);
    match indices {
        [outer @ .., last] if is_signed(*last) => (outer, Some(*last)),
        indices => (indices, None),
    }
}

/// How an argument arrives.
#[derive(Debug, Clone)]
pub enum Arg {
    Value {
        name: Name,
        ty: Type,
    },
    /// The caller's array itself, by reference.
    Reference(LocalId),
}

#[derive(Debug, Clone)]
pub struct Local {
    pub name: Name,
    pub ty: Type,
    pub span: Span,
    pub home: Home,
}

/// The storage of a local.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    Own,
    /// It is an array of the caller's.
    Caller,
    /// It is an array of the workgroup's.
    Workgroup(SharedId),
}

impl Buffer {
    /// The type of the number of an element with these indices: it is computed in 64 bits if an index or the array has
    /// as many.
    pub(crate) fn number_type(&self, function: &Function, indices: &[NodeId]) -> Scalar {
        match self.counts == Width::Wide || indices.iter().any(|index| function.is_wide(*index)) {
            true => Scalar::I64,
            false => Scalar::I32,
        }
    }
}

impl Function {
    /// Without arguments, result and statements.
    pub(crate) fn new(name: Name, source: Source, span: Span) -> Function {
        Function {
            name,
            source,
            span,
            args: Vec::new(),
            result: Type::Void,
            locals: Vec::new(),
            nodes: Vec::new(),
            carries: Vec::new(),
            choices: Vec::new(),
            body: Vec::new(),
            called_for: None,
            is_operator: false,
        }
    }

    /// Nodes that no statement evaluates must not count as calls, accesses and so on.
    pub(crate) fn forget_nodes(&mut self, unused: impl IntoIterator<Item = NodeId>) {
        for node in unused {
            let node = &mut self.nodes[node.idx()];
            (node.kind, node.ty) = (NodeKind::Constant(Constant::bool(false)), Type::BOOL);
        }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.idx()]
    }

    /// Whether the script wrote its steps: it is no library function, except for one that is an operator.
    pub(crate) fn is_of_script(&self) -> bool {
        self.called_for.is_none() || self.is_operator
    }

    /// Whether an element is known to be in range.
    pub(crate) fn is_known_element(&self, index: &ElementIndex) -> bool {
        match index {
            ElementIndex::Flat(flat) => matches!(self.node(*flat).kind, NodeKind::Proven(Proof::InRange, _)),
            ElementIndex::Tested { .. } => false,
            ElementIndex::Axes(axes) => axes.number == NumberFact::InRange,
        }
    }

    /// Whether an index is known to be below `len`.
    pub(crate) fn is_known_inside(&self, index: NodeId, len: u32) -> bool {
        match self.node(index).kind {
            NodeKind::Proven(Proof::InRange, _) => true,
            NodeKind::Constant(constant) => {
                constant.as_int().is_some_and(|index| (0..i128::from(len)).contains(&index))
            }
            _ => false,
        }
    }

    /// Whether the compiler added the operation, and may wrap it.
    pub(crate) fn is_added(&self, id: NodeId) -> bool {
        self.node(id).origin == Origin::Compiler
    }

    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.idx()]
    }

    pub fn ty(&self, id: NodeId) -> &Type {
        &self.nodes[id.idx()].ty
    }

    /// Whether it is a number of 64 bits.
    pub(crate) fn is_wide(&self, id: NodeId) -> bool {
        self.ty(id).scalar().is_some_and(|scalar| scalar.bits() > 32)
    }

    /// How a math function is computed for these arguments.
    pub(crate) fn body_of(&self, math: &MathFn, args: &[NodeId]) -> Body {
        let scalar = args.first().and_then(|arg| self.ty(*arg).number());
        math.body(scalar.unwrap_or(Scalar::F32))
    }

    pub fn constant(&self, id: NodeId) -> Option<Constant> {
        match self.nodes[id.idx()].kind {
            NodeKind::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// The value of a constant, one that is opaque to optimizers or in every component included.
    pub(crate) fn known(&self, id: NodeId) -> Option<Constant> {
        match self.nodes[id.idx()].kind {
            NodeKind::Constant(constant) | NodeKind::Opaque(constant) => Some(constant),
            NodeKind::Splat(scalar) => self.known(scalar),
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

impl Kernel {
    /// The parameter whose memory an array is: the array itself, unless it is a view.
    pub fn memory_of(&self, buffer: BufferId) -> BufferId {
        self.buffers[buffer.idx()].view_of.unwrap_or(buffer)
    }

    /// Whether the memory of an array may end within an element: of a view, whose elements are larger.
    pub(crate) fn may_end_within(&self, buffer: BufferId) -> bool {
        let size = |buffer: BufferId| self.buffers[buffer.idx()].element.packed_size();
        size(buffer) > size(self.memory_of(buffer))
    }

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

    /// Whether an invocation may be outside the domain.
    pub fn is_guarded(&self) -> bool {
        self.has_domain && !self.whole_groups && self.assumptions.boundary_test == BoundaryTest::Needed
    }

    /// Whether an invocation may reach a barrier.
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
