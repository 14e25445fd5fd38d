//! What follows from the intervals at each place: which indices are in range, and which operations are simpler.

use rustc_hash::FxHashMap;

use super::interval::Size;
use super::values::int_of;
use super::walk::Walk;
use crate::ir::{
    AtomicPlace, BinaryOp, BufferId, CompareOp, ElementIndex, Extent, Function, LocalId, NodeId, NodeKind,
    NumberFact, Step, ValueIndex,
};
use crate::types::{Scalar, Type};

/// The decisions about a function, for `rewrite.rs`.
pub(super) struct Decisions {
    /// One for each node.
    pub nodes: Vec<Decision>,
    /// Of the statements with indices, in the order of the function.
    pub stmts: Vec<Decision>,
    /// The first value and the end of the range from which a value is.
    pub ranges: FxHashMap<NodeId, (NodeId, NodeId)>,
}

/// What is decided about a node or a statement.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Decision {
    /// The index of a part is in range. For an operation without one: a simpler one does.
    pub holds: bool,
    /// Of the element.
    pub number: NumberFact,
    /// A bit for each step of the path whose index is in range.
    pub path: u32,
}

impl Decisions {
    pub fn of(function: &Function) -> Decisions {
        let nodes = vec![Decision::default(); function.nodes.len()];
        Decisions { nodes, stmts: Vec::new(), ranges: FxHashMap::default() }
    }

    /// Whether nothing can be simpler.
    pub fn is_empty(&self) -> bool {
        let is_none = |decision: &Decision| *decision == Decision::default();
        self.nodes.iter().chain(&self.stmts).all(is_none)
    }
}

impl Walk<'_> {
    /// Decides about a node, which has its interval.
    pub fn decide_node(&mut self, node: NodeId) {
        let function = self.function;
        let holds = |holds: bool| Decision { holds, ..Decision::default() };
        self.decisions.nodes[node.idx()] = match &function.node(node).kind {
            NodeKind::Binary(BinaryOp::FloorDiv | BinaryOp::FloorMod, a, b) => {
                let is_signed = int_of(function.ty(node)).is_some_and(Scalar::is_signed);
                holds(is_signed && self.is_nonnegative(*a) && self.is_nonnegative(*b))
            }
            NodeKind::Binary(BinaryOp::Add, ..) => {
                if let Some((_, ends)) = self.value_of_round(node) {
                    self.decisions.ranges.insert(node, ends);
                }
                return;
            }
            NodeKind::Abs(a) => holds(int_of(function.ty(node)).is_some() && self.is_nonnegative(*a)),
            NodeKind::Compare(op, a, b) => {
                let are_ints = [a, b].map(|of| matches!(function.ty(*of), Type::Scalar(of) if of.is_int()));
                holds(are_ints == [true, true] && self.always(*op, *a, *b))
            }
            NodeKind::IsInside { of: Extent::Elements(buffer), index } => {
                holds(self.is_element(*buffer, index))
            }
            NodeKind::IsInside { of: Extent::Parts(len), index } => holds(self.is_part(index.number(), *len)),
            NodeKind::BufferLoad { buffer, index, path, .. } => self.element_part(*buffer, index, path),
            NodeKind::LoadElement { local, path } => self.local_part(*local, path),
            NodeKind::ExtractAt { whole, index } | NodeKind::InsertAt { whole, index, .. } => {
                let len = function.ty(*whole).n_parts();
                holds(len.is_some_and(|len| self.is_part(*index, len)))
            }
            NodeKind::Atomic(atomic) => match &atomic.place {
                AtomicPlace::Buffer { buffer, index, path } => self.element_part(*buffer, index, path),
                AtomicPlace::Shared { local, path } => self.local_part(*local, path),
            },
            _ => return,
        };
    }

    pub fn decide_buffer_store(&mut self, buffer: BufferId, index: &ElementIndex, path: &[Step]) {
        let decision = self.element_part(buffer, index, path);
        self.decisions.stmts.push(decision);
    }

    pub fn decide_element_store(&mut self, local: LocalId, path: &[Step]) {
        let decision = self.local_part(local, path);
        self.decisions.stmts.push(decision);
    }

    /// A report of indices that are all in range is not needed.
    pub fn decide_report(&mut self, report: &ValueIndex) {
        let holds = report.axes.iter().all(|(index, len)| self.is_part(*index, *len));
        self.decisions.stmts.push(Decision { holds, ..Decision::default() });
    }

    /// Whether a comparison of ints is always true.
    fn always(&self, op: CompareOp, a: NodeId, b: NodeId) -> bool {
        let [x, y] = [a, b].map(|of| &self.intervals[of.idx()]);
        let is_reached = !x.is_empty() && !y.is_empty();
        is_reached
            && match op {
                CompareOp::Equal => x.known().is_some() && x.known() == y.known(),
                CompareOp::NotEqual => x.largest < y.least || y.largest < x.least,
                CompareOp::Less => x.largest < y.least,
                CompareOp::LessEqual => x.largest <= y.least,
                CompareOp::Greater => x.least > y.largest,
                CompareOp::GreaterEqual => x.least >= y.largest,
            }
    }

    fn is_nonnegative(&self, node: NodeId) -> bool {
        self.intervals[node.idx()].is_nonnegative()
    }

    fn is_part(&self, index: NodeId, len: u32) -> bool {
        let interval = &self.intervals[index.idx()];
        interval.is_nonnegative() && interval.largest < i128::from(len)
    }

    /// Whether each index is in range along its axis.
    fn is_element(&self, buffer: BufferId, index: &ElementIndex) -> bool {
        match index.indices() {
            [index] => self.is_index_of(*index, Size::Elements(buffer)),
            indices => {
                let mut axes = indices.iter().zip(0..);
                axes.all(|(index, axis)| self.is_index_of(*index, Size::Axis(buffer, axis)))
            }
        }
    }

    fn element_part(&self, buffer: BufferId, index: &ElementIndex, path: &[Step]) -> Decision {
        let number = match self.is_element(buffer, index) {
            true => NumberFact::InRange,
            false => NumberFact::MayOverflow,
        };
        let path = self.path(&self.kernel.buffers[buffer.idx()].element, path);
        Decision { number, path, ..Decision::default() }
    }

    fn local_part(&self, local: LocalId, path: &[Step]) -> Decision {
        let path = self.path(&self.function.local(local).ty, path);
        Decision { path, ..Decision::default() }
    }

    fn path(&self, ty: &Type, path: &[Step]) -> u32 {
        if path.iter().all(|step| matches!(step, Step::Part(_))) {
            return 0;
        }
        let (mut ty, mut inside) = (ty.clone(), 0);
        for (step, at) in path.iter().zip(0..u32::BITS) {
            if let (Step::At(index), Some(len)) = (step, ty.n_parts())
                && self.is_part(*index, len)
            {
                inside |= 1 << at;
            }
            let Some(part) = ty.part(step.part()) else { break };
            ty = part;
        }
        inside
    }
}
