//! If-conversion: a branch that only chooses between values becomes a select.
//!
//! In goes a kernel in which each `a if test else b`, `a and b` and `a or b` is a branch that stores to a local, which is
//! loaded behind it. Where both sides are a few operations without effects, they cost less than the branch. So out
//! comes the kernel with those operations before a `Select`, or an `and` or `or` of bools, in place of the load.
//! Branches that run statements of the source are not changed.
//!
//! A proof about an index may hold only where the branch is taken. It is given up with the branch.
//!
//! The conversion is that of J. R. Allen and others, *Conversion of control dependence to data dependence* (1983).

use crate::constant::Constant;
use crate::ir::{
    BinaryOp, Block, CallArg, Function, Home, Kernel, LocalId, NodeId, NodeKind, Proof, Stmt, walk,
};
use crate::types::Type;

/// A side with at most this many operations is computed unconditionally.
const MAX_OPERATIONS: usize = 6;

pub(super) fn apply(kernel: &mut Kernel) {
    for function in kernel.functions.iter_mut().filter(|function| has_candidates(&function.body)) {
        let mut body = std::mem::take(&mut function.body);
        let uses = uses_of_locals(function, &body);
        IfConversion { function, uses }.block(&mut body);
        function.body = body;
    }
}

/// Whether there is a branch that does nothing but compute and store. Most functions have none.
fn has_candidates(block: &Block) -> bool {
    let is_plain = |side: &Block| {
        side.iter().all(|stmt| matches!(stmt, Stmt::Eval(_) | Stmt::Store { .. } | Stmt::Index(_)))
    };
    let mut found = false;
    walk(block, &mut |stmt| {
        if let Stmt::If { then, orelse, .. } = stmt {
            found |= is_plain(then) && is_plain(orelse);
        }
    });
    found
}

/// The stores and loads of a whole local.
#[derive(Clone, Copy, Default)]
struct Uses {
    n_stores: usize,
    n_loads: usize,
    /// The last one.
    load: Option<NodeId>,
    /// It is accessed in another way, too.
    has_others: bool,
}

fn uses_of_locals(function: &Function, body: &Block) -> Vec<Uses> {
    let mut uses = vec![Uses::default(); function.locals.len()];
    for (node, at) in function.nodes.iter().zip(0..) {
        match &node.kind {
            NodeKind::Load(local) => {
                let uses = &mut uses[local.idx()];
                uses.n_loads += 1;
                uses.load = Some(NodeId(at));
            }
            NodeKind::LoadElement { local, .. } => uses[local.idx()].has_others = true,
            NodeKind::Call { args, .. } => {
                for arg in args {
                    if let CallArg::Reference(local) = arg {
                        uses[local.idx()].has_others = true;
                    }
                }
            }
            _ => {}
        }
    }
    walk(body, &mut |stmt| match stmt {
        Stmt::Store { local, .. } => uses[local.idx()].n_stores += 1,
        Stmt::StoreElement { local, .. } => uses[local.idx()].has_others = true,
        Stmt::Carry(carry) => {
            for (local, _) in function.carries.get(carry.idx()).into_iter().flatten() {
                uses[local.idx()].n_stores += 1;
            }
        }
        _ => {}
    });
    uses
}

struct IfConversion<'f> {
    function: &'f mut Function,
    uses: Vec<Uses>,
}

/// What a branch chooses between.
enum Choice {
    /// For each load, the values of both sides.
    Values(Vec<(NodeId, [NodeId; 2])>),
    /// `condition and value`, or `or`. The condition was stored before.
    Bool { load: NodeId, op: BinaryOp, value: NodeId },
}

type Stores = Vec<(LocalId, NodeId)>;

impl IfConversion<'_> {
    fn block(&mut self, block: &mut Block) {
        let mut has_branches = false;
        for stmt in block.iter_mut() {
            match stmt {
                Stmt::If { then, orelse, .. } => {
                    has_branches = true;
                    self.block(then);
                    self.block(orelse);
                }
                Stmt::Loop(parts) => {
                    [&mut parts.test, &mut parts.body, &mut parts.step]
                        .into_iter()
                        .for_each(|b| self.block(b));
                }
                _ => {}
            }
        }
        if has_branches {
            self.branches(block);
        }
    }

    /// Converts the branches of a block.
    fn branches(&mut self, block: &mut Block) {
        let mut before = std::mem::take(block).into_iter();
        while let Some(stmt) = before.next() {
            let Stmt::If { condition, then, orelse, span } = stmt else {
                block.push(stmt);
                continue;
            };
            let Some(choice) = self.choice(condition, [&then, &orelse], (block, before.as_slice())) else {
                block.push(Stmt::If { condition, then, orelse, span });
                continue;
            };
            match choice {
                // Nothing uses what the sides compute.
                Choice::Values(values) if values.is_empty() => continue,
                Choice::Values(values) => {
                    for (load, [then, orelse]) in values {
                        self.function.nodes[load.idx()].kind = NodeKind::Select { condition, then, orelse };
                    }
                }
                Choice::Bool { load, op, value } => {
                    // The store of the condition.
                    block.pop();
                    self.function.nodes[load.idx()].kind = NodeKind::Binary(op, condition, value);
                }
            }
            let operations = then.into_iter().chain(orelse).filter(|stmt| matches!(stmt, Stmt::Eval(_)));
            for operation in operations {
                if let Stmt::Eval(node) = operation {
                    self.give_up_proof(node);
                }
                block.push(operation);
            }
        }
    }

    /// What a branch chooses between, if it does only that and its sides are cheap. `around` are the statements of its
    /// block, before and after it.
    fn choice(&self, condition: NodeId, sides: [&Block; 2], around: (&Block, &[Stmt])) -> Option<Choice> {
        let [then, orelse] = [self.side(sides[0])?, self.side(sides[1])?];
        let (before, after) = around;
        match (&then[..], &orelse[..]) {
            ([(local, value)], []) | ([], [(local, value)]) => {
                let is_and = orelse.is_empty();
                let of_condition = |stmt: &Stmt| matches!(stmt, Stmt::Store { local: l, value, .. } if l == local && *value == condition);
                let is_test =
                    *self.function.ty(*value) == Type::BOOL && before.last().is_some_and(of_condition);
                let load = self.load_of(*local, after).filter(|_| is_test)?;
                let op = if is_and { BinaryOp::And } else { BinaryOp::Or };
                Some(Choice::Bool { load, op, value: *value })
            }
            (then, orelse) if then.len() == orelse.len() => {
                let values = then.iter().zip(orelse).map(|(&(local, a), &(other, b))| {
                    let is_number = self.function.ty(a).scalar().is_some();
                    let load = self.load_of(local, after).filter(|_| local == other && is_number)?;
                    Some((load, [a, b]))
                });
                values.collect::<Option<Vec<_>>>().map(Choice::Values)
            }
            _ => None,
        }
    }

    /// The stores of a side that has nothing else but a few operations without effects.
    fn side(&self, side: &Block) -> Option<Stores> {
        let (mut n_operations, mut stores) = (0, Stores::new());
        for stmt in side {
            match stmt {
                Stmt::Eval(node) if self.has_no_effects(*node) => {
                    n_operations += n_instructions(&self.function.node(*node).kind);
                }
                Stmt::Store { local, value, .. } => stores.push((*local, *value)),
                // A device that checks has its check already.
                Stmt::Index(_) => {}
                _ => return None,
            }
        }
        (n_operations <= MAX_OPERATIONS).then_some(stores)
    }

    /// The only load of a local that has two stores, if it is among these statements.
    fn load_of(&self, local: LocalId, after: &[Stmt]) -> Option<NodeId> {
        let uses = self.uses[local.idx()];
        let is_own = self.function.local(local).home == Home::Own;
        let is_value = is_own && uses.n_stores == 2 && uses.n_loads == 1 && !uses.has_others;
        let load = uses.load.filter(|_| is_value)?;
        after.iter().any(|stmt| matches!(stmt, Stmt::Eval(node) if *node == load)).then_some(load)
    }

    fn has_no_effects(&self, node: NodeId) -> bool {
        match self.function.node(node).kind {
            NodeKind::Binary(BinaryOp::FloorDiv | BinaryOp::FloorMod, _, divisor) => {
                // An int divided by a constant costs a multiplication.
                self.function.constant(divisor).and_then(Constant::as_int).is_some()
            }
            NodeKind::BufferLoad { .. }
            | NodeKind::TextureRead { .. }
            | NodeKind::TextureSample { .. }
            | NodeKind::LoadElement { .. }
            | NodeKind::Call { .. }
            | NodeKind::Atomic(_)
            | NodeKind::Subgroup { .. }
            | NodeKind::Float(..)
            | NodeKind::Geometry(..)
            | NodeKind::Binary(
                BinaryOp::PlainDiv | BinaryOp::PlainMod | BinaryOp::TruncDiv | BinaryOp::TruncRem,
                ..,
            ) => false,
            _ => true,
        }
    }

    fn give_up_proof(&mut self, node: NodeId) {
        if let NodeKind::Proven(proof @ Proof::InRange, _) = &mut self.function.nodes[node.idx()].kind {
            *proof = Proof::Near;
        }
    }
}

/// About how many instructions compute a node.
fn n_instructions(kind: &NodeKind) -> usize {
    match kind {
        // Either float as bits, masked; the bits joined, and as a float again.
        NodeKind::CopySign { .. } => 6,
        _ => 1,
    }
}
