//! Writes the decisions about a function into it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::decisions::{Decision, Decisions};
use crate::constant::Constant;
use crate::ir::{
    Atomic, AtomicPlace, BinaryOp, Block, ElementIndex, Function, Node, NodeId, NodeKind, NumberFact, Origin,
    Proof, Step, Stmt, is_terminator,
};

pub(super) fn rewrite(function: &mut Function, decisions: &Decisions) {
    if decisions.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut function.body);
    let mut rewriter = Rewriter {
        function,
        decisions,
        next_stmt: 0,
        inserted: Block::new(),
        proven_tests: FxHashSet::default(),
        replaced: FxHashMap::default(),
    };
    rewriter.block(&mut body);
    rewriter.replace_in_tables();
    function.body = body;
}

struct Rewriter<'a> {
    function: &'a mut Function,
    decisions: &'a Decisions,
    next_stmt: usize,
    /// Statements to insert before the current one.
    inserted: Block,
    /// Tests that are always true.
    proven_tests: FxHashSet<NodeId>,
    /// The nodes that are used instead of others.
    replaced: FxHashMap<NodeId, NodeId>,
}

impl Rewriter<'_> {
    fn block(&mut self, block: &mut Block) {
        let before = std::mem::take(block);
        block.reserve(before.len());
        let mut is_reached = true;
        for mut stmt in before {
            self.replace_operands(&mut stmt);
            let is_kept = self.stmt(&mut stmt);
            if !is_reached {
                self.inserted.clear();
                continue;
            }
            block.append(&mut self.inserted);
            match stmt {
                // The branch that is always taken. Nothing behind it is reached if it ends with a jump.
                Stmt::If { condition, mut then, .. } if self.is_true(condition) => {
                    is_reached = !then.last().is_some_and(is_terminator);
                    block.append(&mut then);
                }
                stmt if is_kept => block.push(stmt),
                _ => {}
            }
        }
    }

    /// Rewrites a statement. It is not needed where this is false.
    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        match stmt {
            Stmt::Eval(node) => return self.node(*node),
            Stmt::BufferStore { index, path, .. } => {
                let decision = self.next_decision();
                self.mark_element(decision, index, path);
            }
            Stmt::StoreElement { path, .. } => {
                let decision = self.next_decision();
                self.mark_path(decision, path);
            }
            Stmt::Index(_) => return !self.next_decision().holds,
            Stmt::If { then, orelse, .. } => {
                self.block(then);
                self.block(orelse);
            }
            Stmt::Loop(parts) => {
                self.block(&mut parts.test);
                parts.condition.iter_mut().for_each(|condition| self.replace(condition));
                self.block(&mut parts.body);
                self.block(&mut parts.step);
            }
            _ => {}
        }
        true
    }

    fn next_decision(&mut self) -> Decision {
        self.next_stmt += 1;
        self.decisions.stmts.get(self.next_stmt - 1).copied().unwrap_or_default()
    }

    /// Rewrites a node. It need not be computed where this is false.
    fn node(&mut self, id: NodeId) -> bool {
        let decision = self.decisions.nodes[id.idx()];
        let placeholder = NodeKind::Constant(Constant::bool(true));
        let mut kind = std::mem::replace(&mut self.function.nodes[id.idx()].kind, placeholder);
        let is_true = |node: &NodeId| self.is_true(*node);
        let instead = match &mut kind {
            NodeKind::Binary(op @ (BinaryOp::FloorDiv | BinaryOp::FloorMod), ..) if decision.holds => {
                *op = if *op == BinaryOp::FloorDiv { BinaryOp::PlainDiv } else { BinaryOp::PlainMod };
                None
            }
            NodeKind::Abs(a) if decision.holds => Some(*a),
            NodeKind::IsInside { .. } | NodeKind::Compare(..) if decision.holds => {
                // A constant needs no statement. It is the placeholder.
                self.proven_tests.insert(id);
                return false;
            }
            NodeKind::Binary(BinaryOp::And, a, b) if is_true(a) && is_true(b) => {
                self.proven_tests.insert(id);
                return false;
            }
            NodeKind::Binary(BinaryOp::And, a, b) if is_true(a) => Some(*b),
            NodeKind::Binary(BinaryOp::And, a, b) if is_true(b) => Some(*a),
            NodeKind::Select { condition, then, .. } if is_true(condition) => Some(*then),
            NodeKind::BufferLoad { index, path, .. } => {
                self.mark_element(decision, index, path);
                None
            }
            NodeKind::LoadElement { path, .. } => {
                self.mark_path(decision, path);
                None
            }
            NodeKind::ExtractAt { index, .. } | NodeKind::InsertAt { index, .. } if decision.holds => {
                self.mark(index, Proof::InRange);
                None
            }
            NodeKind::Atomic(atomic) => {
                self.mark_atomic(decision, atomic);
                None
            }
            _ => None,
        };
        self.function.nodes[id.idx()].kind = kind;
        self.replaced.extend(instead.map(|instead| (id, instead)));
        instead.is_none()
    }

    fn is_true(&self, node: NodeId) -> bool {
        self.proven_tests.contains(&node) || self.function.constant(node) == Some(Constant::bool(true))
    }

    // Indices.

    fn mark_atomic(&mut self, decision: Decision, atomic: &mut Atomic) {
        match &mut atomic.place {
            AtomicPlace::Buffer { index, path, .. } => self.mark_element(decision, index, path),
            AtomicPlace::Shared { path, .. } => self.mark_path(decision, path),
        }
    }

    fn mark_element(&mut self, decision: Decision, index: &mut ElementIndex, path: &mut [Step]) {
        match (index, decision.number) {
            (ElementIndex::Axes(axes), number) => axes.number = number,
            (ElementIndex::Flat(flat), NumberFact::InRange) => self.mark(flat, Proof::InRange),
            (ElementIndex::Flat(flat), NumberFact::Near) => self.mark(flat, Proof::Near),
            _ => {}
        }
        self.mark_path(decision, path);
    }

    fn mark_path(&mut self, decision: Decision, path: &mut [Step]) {
        for (step, at) in path.iter_mut().zip(0..u32::BITS) {
            if let (Step::At(index), true) = (step, decision.path & (1 << at) != 0) {
                self.mark(index, Proof::InRange);
            }
        }
    }

    /// Marks an index with what is proven of it.
    fn mark(&mut self, index: &mut NodeId, proof: Proof) {
        let Node { kind, ty, span, .. } = self.function.node(*index);
        match kind {
            NodeKind::Proven(..) => return,
            // The emitter knows whether a value has such a part.
            NodeKind::Constant(_) if proof == Proof::InRange => return,
            _ => {}
        }
        let kind = NodeKind::Proven(proof, *index);
        let marked = Node { kind, ty: ty.clone(), span: *span, name: None, origin: Origin::Compiler };
        let id = NodeId(self.function.nodes.len() as u32);
        self.function.nodes.push(marked);
        self.inserted.push(Stmt::Eval(id));
        *index = id;
    }

    // Replaced nodes.

    fn replace(&self, node: &mut NodeId) {
        if let Some(instead) = self.replaced.get(node) {
            *node = *instead;
        }
    }

    /// Uses other nodes instead of those that were replaced.
    fn replace_operands(&mut self, stmt: &mut Stmt) {
        if self.replaced.is_empty() {
            return;
        }
        let Rewriter { replaced, function, .. } = self;
        let mut replace = replace_by(replaced);
        match stmt {
            Stmt::Eval(node) => function.nodes[node.idx()].kind.operands_mut(&mut replace),
            Stmt::Carry(carry) => {
                let stores = function.carries.get_mut(carry.idx()).into_iter().flatten();
                stores.for_each(|(_, value)| replace(value));
            }
            stmt => stmt.operands_mut(&mut replace),
        }
    }

    /// The same in the tables of the function.
    fn replace_in_tables(&mut self) {
        let Rewriter { replaced, function, .. } = self;
        if replaced.is_empty() {
            return;
        }
        let mut replace = replace_by(replaced);
        for node in &mut function.nodes {
            if let Origin::Result(inputs) = &mut node.origin {
                inputs.iter_mut().for_each(&mut replace);
            }
        }
    }
}

fn replace_by(replaced: &FxHashMap<NodeId, NodeId>) -> impl FnMut(&mut NodeId) {
    |node| {
        if let Some(instead) = replaced.get(node) {
            *node = *instead;
        }
    }
}
