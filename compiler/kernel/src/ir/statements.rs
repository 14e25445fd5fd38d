//! The statements of the IR.

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::nodes::steps_mut;
use super::{
    BufferId, CarryId, CoopOp, CoopPlace, ElementIndex, LocalId, NodeId, NodeKind, PortId, Step, TextureId,
};
use crate::types::Type;

pub type Block = Vec<Stmt>;

#[derive(Debug, Clone)]
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
        index: ElementIndex,
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
    /// An operation on a cooperative matrix. Legalisation leaves none.
    Coop(Box<CoopOp>),
    /// The text of a `print` or of a failed `assert`.
    Message(Box<Message>),
    /// The source assigned a value. It computes nothing, and what stores the value is before it.
    Assigned(Box<Assigned>),
    /// What an instrumented kernel writes for the host. Inference makes none.
    Record(Box<Record>),
    /// The value has four components.
    TextureWrite {
        texture: TextureId,
        at: NodeId,
        value: NodeId,
        span: Span,
    },
    /// Part of a value is about to be read or replaced. It computes nothing.
    Index(Box<ValueIndex>),
    /// For a device that checks. Inference makes none.
    Check(Box<Check>),
    /// An output of a vertex or fragment function.
    PortStore {
        port: PortId,
        value: NodeId,
        span: Span,
    },
    /// The stores of a path into a merge; most are empty.
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
    /// Ends the invocation, in a function that was called too. A fragment leaves no trace.
    End(Span),
}

/// An operation of the whole workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// A barrier: waits for all invocations, and makes their stores visible.
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

/// An index of the source into a vector, a matrix or an array that is a value.
#[derive(Debug, Clone)]
pub struct ValueIndex {
    /// Where the source names the whole value.
    pub whole: Span,
    pub touch: Touch,
    /// Index and length of each axis.
    pub axes: Vec<(NodeId, u32)>,
    pub span: Span,
}

/// An operation that may fail, with its operands before any guard.
#[derive(Debug, Clone)]
pub struct Check {
    pub kind: CheckKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum CheckKind {
    /// Index and length of each axis. `None` is the number of elements of the array.
    Index {
        of: Indexed,
        touch: Touch,
        axes: Vec<(NodeId, Option<NodeId>)>,
    },
    Operation(Operation, Vec<NodeId>),
}

/// What an index is for.
#[derive(Debug, Clone)]
pub enum Indexed {
    Buffer(BufferId),
    /// Anything else, as the source names it.
    Named(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The dividend, the divisor.
    Division,
    /// The shifted value, the amount.
    Shift,
    /// The float, the int that results, the precision of the float's type in bits.
    Conversion,
    /// A value that should be uniform.
    Uniform,
    /// Two ints.
    Arithmetic(Arithmetic),
    /// A float that results, and the operands.
    NonFinite,
}

/// Arithmetic of ints that may overflow. Unary operations have 0 as their first operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Sum,
    Difference,
    Product,
    Negation,
    Magnitude,
    Quotient,
}

/// The access to an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    Read,
    Write,
    Both,
}

/// An assignment of the source.
#[derive(Debug, Clone)]
pub struct Assigned {
    pub target: Assignee,
    pub value: AssignedValue,
    pub span: Span,
}

/// What has a new value.
#[derive(Debug, Clone)]
pub enum Assignee {
    /// A variable, or `return`.
    Name(Name),
    Local {
        local: LocalId,
        path: Vec<Step>,
    },
    Element {
        buffer: BufferId,
        index: ElementIndex,
        path: Vec<Step>,
    },
    Texel {
        texture: TextureId,
        at: NodeId,
    },
    /// Several places behind it, if `inside` holds.
    Scattered {
        inside: NodeId,
    },
}

#[derive(Debug, Clone)]
pub enum AssignedValue {
    Node(NodeId),
    /// What `load` gives at this point.
    InMemory {
        load: NodeKind,
        ty: Type,
    },
    Tuple(Vec<AssignedValue>),
}

/// Text for the host with values of any types in it.
#[derive(Debug, Clone)]
pub struct Message {
    pub kind: MessageKind,
    /// See `text.rs`.
    pub template: String,
    pub values: Vec<NodeId>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum MessageKind {
    /// This template follows.
    Print { end: String },
    /// The invocation ends after it.
    Assert,
    /// The invocation continues, since others may wait for it. Only its first message is kept.
    AssertOnce,
}

/// A message as a kernel writes it: its values are numbers of 32 or 64 bits, and bools.
#[derive(Debug, Clone)]
pub struct Record {
    pub kind: RecordKind,
    /// See `text.rs`.
    pub template: String,
    pub values: Vec<NodeId>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    Print,
    /// The invocation ends after it.
    Assert,
    /// The invocation continues; only its first record is kept.
    AssertOnce,
    /// The value of an assignment.
    Trace,
}

impl Assignee {
    fn operands_mut(&mut self, visit: &mut dyn FnMut(&mut NodeId)) {
        match self {
            Assignee::Name(_) => {}
            Assignee::Local { path, .. } => steps_mut(path).for_each(visit),
            Assignee::Element { index, path, .. } => {
                index.nodes_mut().for_each(&mut *visit);
                steps_mut(path).for_each(visit);
            }
            Assignee::Texel { at, .. } => visit(at),
            Assignee::Scattered { inside } => visit(inside),
        }
    }
}

impl AssignedValue {
    fn operands_mut(&mut self, visit: &mut dyn FnMut(&mut NodeId)) {
        match self {
            AssignedValue::Node(node) => visit(node),
            AssignedValue::InMemory { load, .. } => load.operands_mut(visit),
            AssignedValue::Tuple(items) => items.iter_mut().for_each(|item| item.operands_mut(visit)),
        }
    }
}

#[derive(Debug, Clone)]
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

impl Stmt {
    /// Calls `visit` for every node that the statement itself uses, to replace it. A path has its own list of stores,
    /// and legalisation leaves no operation on a matrix.
    pub(crate) fn operands_mut(&mut self, visit: &mut dyn FnMut(&mut NodeId)) {
        match self {
            Stmt::Eval(_)
            | Stmt::Carry(_)
            | Stmt::Coop(_)
            | Stmt::Together(..)
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Return(None, _)
            | Stmt::End(_) => {}
            Stmt::Store { value, .. } | Stmt::PortStore { value, .. } | Stmt::Return(Some(value), _) => {
                visit(value);
            }
            Stmt::StoreElement { path, value, .. } => {
                steps_mut(path).for_each(&mut *visit);
                visit(value);
            }
            Stmt::BufferStore { index, path, value, .. } => {
                index.nodes_mut().for_each(&mut *visit);
                steps_mut(path).for_each(&mut *visit);
                visit(value);
            }
            Stmt::CoopStore { place, value, .. } => {
                visit(&mut place.start);
                visit(&mut place.stride);
                visit(value);
            }
            Stmt::Record(record) => record.values.iter_mut().for_each(visit),
            Stmt::Message(message) => message.values.iter_mut().for_each(visit),
            Stmt::Assigned(assigned) => {
                assigned.target.operands_mut(visit);
                assigned.value.operands_mut(visit);
            }
            Stmt::TextureWrite { at, value, .. } => {
                visit(at);
                visit(value);
            }
            Stmt::Index(index) => index.axes.iter_mut().for_each(|(index, _)| visit(index)),
            Stmt::Check(check) => match &mut check.kind {
                CheckKind::Index { axes, .. } => axes.iter_mut().for_each(|(index, len)| {
                    visit(index);
                    len.iter_mut().for_each(&mut *visit);
                }),
                CheckKind::Operation(_, operands) => operands.iter_mut().for_each(visit),
            },
            Stmt::If { condition, .. } => visit(condition),
            Stmt::Loop(parts) => parts.condition.iter_mut().for_each(visit),
        }
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
    matches!(stmt, Stmt::Break | Stmt::Continue | Stmt::Return(..) | Stmt::End(_))
}

/// Control does not go on after this statement, whatever path it takes.
pub(crate) fn ends_control(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Break | Stmt::Continue | Stmt::Return(..) | Stmt::End(_) => true,
        Stmt::If { then, orelse, .. } => {
            then.last().is_some_and(ends_control) && orelse.last().is_some_and(ends_control)
        }
        // Left by `Break` or by its test, or never.
        Stmt::Loop(_) => true,
        _ => false,
    }
}
