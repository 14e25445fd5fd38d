//! The number of each element in an array of several axes, from its index along each axis.
//!
//! In go accesses with an index for each axis (`ElementIndex::Axes`); out come accesses with the number of the element:
//! the sum of the indices, each multiplied by the lengths of all later axes. It is computed in the type that
//! `Buffer::number_type` states. The sum may overflow. Unless `ranges` has excluded that, a test of it becomes part of the
//! access (`ElementIndex::Tested`).
//!
//! The test adds the absolute offsets along the outer axes as floats. If their sum is larger than any number of an
//! element, the element is out of range, whatever the last axis adds. A signed index along the last axis is left out, so
//! that neighbours in a row share one test.
//!
//! Equal computations are made once in a block and in what is nested in it, outside of every loop that changes none of
//! their operands. So a row that a loop goes along begins at a number from before the loop. Bounds are never tested here.

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use crate::constant::Constant;
use crate::ir::{
    AtomicPlace, BinaryOp, Block, Buffer, BufferId, CompareOp, ElementIndex, Extent, Function, Kernel, Loop,
    Node, NodeId, NodeKind, NumberFact, Origin, Proof, Stmt, outer_and_last,
};
use crate::types::{Scalar, Type};

/// The largest number of elements that numbers of 32 bits count, plus the rounding error of the sum of floats.
const LIMIT: f64 = (1u64 << 31) as f64 + 1024.0;

/// More elements than any array has, and few enough for what the last axis adds.
const WIDE_LIMIT: f64 = (1u64 << 62) as f64;

/// The weight of a negative offset: what the last axis subtracts from it must not wrap around.
const BELOW: f64 = -4.0;

pub(super) fn apply(kernel: &mut Kernel) {
    if kernel.buffers.iter().all(|buffer| buffer.rank == 1) {
        return;
    }
    for function in &mut kernel.functions {
        let body = std::mem::take(&mut function.body);
        let depths = vec![0; function.nodes.len()];
        let mut flattener = Flattener {
            buffers: &kernel.buffers,
            function,
            span: Span::default(),
            depths,
            open: Vec::new(),
            loops: Vec::new(),
            known: FxHashMap::default(),
        };
        let body = flattener.block(body);
        function.body = body;
    }
}

struct Flattener<'f> {
    buffers: &'f [Buffer],
    function: &'f mut Function,
    /// Of the current access.
    span: Span,
    /// The number of loops around each node.
    depths: Vec<usize>,
    /// The blocks around the current statement, from the outside, as far as they are rewritten.
    open: Vec<OpenBlock>,
    /// For each loop around it, the place in `open` of the block that contains the loop.
    loops: Vec<usize>,
    /// The operations that are visible here.
    known: FxHashMap<Operation, NodeId>,
}

#[derive(Default)]
struct OpenBlock {
    stmts: Block,
    /// What was added to it, and is not visible after it.
    operations: Vec<Operation>,
}

/// An operation without effects.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Constant(Constant),
    /// The length of an axis.
    Len(BufferId, u8),
    Convert(NodeId, Scalar),
    Binary(BinaryOp, NodeId, NodeId),
    IsLess(NodeId, NodeId),
    Select(NodeId, NodeId, NodeId),
    Proven(Proof, NodeId),
}

impl Flattener<'_> {
    fn block(&mut self, before: Block) -> Block {
        self.begin(before.len());
        self.stmts(before);
        self.end()
    }

    fn begin(&mut self, n_stmts: usize) {
        let stmts = Block::with_capacity(n_stmts);
        self.open.push(OpenBlock { stmts, operations: Vec::new() });
    }

    fn end(&mut self) -> Block {
        let OpenBlock { stmts, operations } = self.open.pop().expect("each block ends once");
        for operation in operations {
            self.known.remove(&operation);
        }
        stmts
    }

    fn stmts(&mut self, before: Block) {
        for stmt in before {
            if let Some(stmt) = self.stmt(stmt) {
                self.open.last_mut().expect("a block is open").stmts.push(stmt);
            }
        }
    }

    fn stmt(&mut self, stmt: Stmt) -> Option<Stmt> {
        Some(match stmt {
            Stmt::Eval(node) => {
                self.node(node);
                self.depths[node.idx()] = self.loops.len();
                stmt
            }
            Stmt::BufferStore { buffer, mut index, path, value, span } => {
                self.span = span;
                self.element(buffer, &mut index);
                Stmt::BufferStore { buffer, index, path, value, span }
            }
            Stmt::If { condition, then, orelse, span } => {
                let (then, orelse) = (self.block(then), self.block(orelse));
                Stmt::If { condition, then, orelse, span }
            }
            Stmt::Loop(parts) => Stmt::Loop(Box::new(self.loop_(*parts))),
            // Only a trace follows assignments.
            Stmt::Assigned(_) => return None,
            stmt => stmt,
        })
    }

    fn loop_(&mut self, parts: Loop) -> Loop {
        let Loop { test, condition, body, step, span } = parts;
        self.loops.push(self.open.len() - 1);
        // What the test computes is visible in the rest.
        self.begin(test.len());
        self.stmts(test);
        let (body, step) = (self.block(body), self.block(step));
        let test = self.end();
        self.loops.pop();
        Loop { test, condition, body, step, span }
    }

    fn node(&mut self, id: NodeId) {
        let node = self.function.node(id);
        let is_access = matches!(
            node.kind,
            NodeKind::BufferLoad { .. } | NodeKind::IsInside { .. } | NodeKind::Atomic(_)
        );
        if !is_access {
            return;
        }
        self.span = node.span;
        let mut kind = node.kind.clone();
        match &mut kind {
            NodeKind::BufferLoad { buffer, index, .. }
            | NodeKind::IsInside { of: Extent::Elements(buffer), index } => self.element(*buffer, index),
            NodeKind::Atomic(atomic) => match &mut atomic.place {
                AtomicPlace::Buffer { buffer, index, .. } => self.element(*buffer, index),
                AtomicPlace::Shared { .. } => {}
            },
            _ => {}
        }
        self.function.nodes[id.idx()].kind = kind;
    }

    /// Replaces the indices of an element by its number.
    fn element(&mut self, buffer: BufferId, index: &mut ElementIndex) {
        let ElementIndex::Axes(axes) = index else { return };
        let ty = self.buffers[buffer.idx()].number_type(self.function, &axes.indices);
        let flat = self.number(buffer, &axes.indices, ty);
        *index = match axes.number {
            NumberFact::InRange => self.proven(Proof::InRange, flat).into(),
            NumberFact::Near => self.proven(Proof::Near, flat).into(),
            NumberFact::MayOverflow => {
                let limit = if ty == Scalar::I64 { WIDE_LIMIT } else { LIMIT };
                let fits = self.fits(buffer, &axes.indices, limit);
                ElementIndex::Tested { flat, fits }
            }
            NumberFact::Exact => flat.into(),
        };
    }

    fn proven(&mut self, proof: Proof, number: NodeId) -> NodeId {
        self.operation(Operation::Proven(proof, number))
    }

    fn number(&mut self, buffer: BufferId, indices: &[NodeId], ty: Scalar) -> NodeId {
        let mut sum = None;
        for (index, axis) in indices.iter().zip(0..) {
            let mut offset = self.converted(*index, ty);
            for inner in axis + 1..self.buffers[buffer.idx()].rank {
                let len = self.len(buffer, inner, ty);
                offset = self.binary(BinaryOp::Mul, offset, len);
            }
            sum = Some(match sum {
                Some(sum) => self.binary(BinaryOp::Add, sum, offset),
                None => offset,
            });
        }
        sum.expect("an access has an index for each axis")
    }

    /// Whether the number of an element does not overflow its type.
    fn fits(&mut self, buffer: BufferId, indices: &[NodeId], limit: f64) -> NodeId {
        let (outer, _) = outer_and_last(self.function, indices);
        let mut sum = None;
        for (index, axis) in outer.iter().zip(0..) {
            let mut offset = self.distance(*index);
            for inner in axis + 1..self.buffers[buffer.idx()].rank {
                let len = self.len(buffer, inner, Scalar::F32);
                offset = self.binary(BinaryOp::Mul, offset, len);
            }
            sum = Some(match sum {
                Some(sum) => self.binary(BinaryOp::Add, sum, offset),
                None => offset,
            });
        }
        let (sum, limit) = (sum.expect("an array of several axes has an outer one"), self.float(limit));
        self.operation(Operation::IsLess(sum, limit))
    }

    /// An index as a float that is not negative. A negative index has its weight.
    fn distance(&mut self, index: NodeId) -> NodeId {
        let is_signed = self.function.ty(index).scalar().is_some_and(Scalar::is_signed);
        let index = self.converted(index, Scalar::F32);
        if !is_signed {
            return index;
        }
        let [zero, below] = [0.0, BELOW].map(|value| self.float(value));
        let is_below = self.operation(Operation::IsLess(index, zero));
        let below = self.binary(BinaryOp::Mul, index, below);
        self.operation(Operation::Select(is_below, below, index))
    }

    fn len(&mut self, buffer: BufferId, axis: u8, ty: Scalar) -> NodeId {
        let len = self.operation(Operation::Len(buffer, axis));
        self.converted(len, ty)
    }

    fn float(&mut self, value: f64) -> NodeId {
        self.operation(Operation::Constant(Constant::float(Scalar::F32, value)))
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        self.operation(Operation::Binary(op, a, b))
    }

    fn converted(&mut self, number: NodeId, to: Scalar) -> NodeId {
        if *self.function.ty(number) == Type::from(to) {
            return number;
        }
        match self.function.constant(number) {
            Some(constant) => self.operation(Operation::Constant(constant.cast(to))),
            None => self.operation(Operation::Convert(number, to)),
        }
    }

    /// The node of an operation, which is added where it is not visible yet.
    fn operation(&mut self, operation: Operation) -> NodeId {
        if let Some(known) = self.known.get(&operation) {
            return *known;
        }
        let ty_of = |node: NodeId| self.function.ty(node).clone();
        let (kind, ty) = match operation {
            Operation::Constant(constant) => (NodeKind::Constant(constant), constant.scalar().into()),
            Operation::Len(buffer, axis) => {
                (NodeKind::BufferAxis { buffer, axis }, self.buffers[buffer.idx()].counts.signed().into())
            }
            Operation::Convert(a, to) => (NodeKind::Convert(a), to.into()),
            Operation::Binary(op, a, b) => (NodeKind::Binary(op, a, b), ty_of(a)),
            Operation::IsLess(a, b) => (NodeKind::Compare(CompareOp::Less, a, b), Type::BOOL),
            Operation::Select(condition, then, orelse) => {
                (NodeKind::Select { condition, then, orelse }, ty_of(then))
            }
            Operation::Proven(proof, a) => (NodeKind::Proven(proof, a), ty_of(a)),
        };
        let mut depth = 0;
        kind.operands(&mut |operand| depth = depth.max(self.depths[operand.idx()]));
        let id = NodeId(self.function.nodes.len() as u32);
        let is_constant = matches!(kind, NodeKind::Constant(_));
        self.function.nodes.push(Node { kind, ty, span: self.span, name: None, origin: Origin::Compiler });
        self.depths.push(depth);
        // Before the loops that change no operand.
        let innermost = self.open.len() - 1;
        let block = &mut self.open[self.loops.get(depth).copied().unwrap_or(innermost)];
        if !is_constant {
            block.stmts.push(Stmt::Eval(id));
        }
        block.operations.push(operation);
        self.known.insert(operation, id);
        id
    }
}
