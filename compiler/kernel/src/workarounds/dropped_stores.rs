//! A device with robust access drops a store out of range, but lavapipe's compiler forwards the stored value to a later
//! load of the same index. So the module tests the bounds of such loads.
//!
//! The analysis walks statements in order. A loop is entered with all its stores; a call adds the stores of its
//! function, which starts with the stores of all its callers. A store with a proven index is never dropped, and
//! atomic operations have bounds tests anyway.

use rustc_hash::FxHashSet;

use crate::ir::{
    Block, BoundsCheck, BufferId, Function, FunctionId, Kernel, NodeId, NodeKind, Stmt, is_terminator, walk,
};

type Buffers = FxHashSet<BufferId>;

pub(super) fn apply(kernel: &mut Kernel) {
    for (loads, function) in loads_behind_stores(kernel).into_iter().zip(&mut kernel.functions) {
        for load in loads {
            if let NodeKind::BufferLoad { bounds, .. } = &mut function.nodes[load.idx()].kind {
                *bounds = BoundsCheck::Words;
            }
        }
    }
}

/// For each function, its loads of a buffer that the invocation may have stored to before.
fn loads_behind_stores(kernel: &Kernel) -> Vec<FxHashSet<NodeId>> {
    let reached = kernel.reached();
    let mut stores: Vec<Buffers> = Vec::new();
    // Callees come before their callers.
    for function in &kernel.functions {
        let stored = stored_in(kernel, function, &function.body, &stores);
        stores.push(stored);
    }
    let n_functions = kernel.functions.len();
    let mut before = vec![Buffers::default(); n_functions];
    let mut found = vec![FxHashSet::default(); n_functions];
    for at in (0..n_functions).rev().filter(|at| reached[*at]) {
        let stored = std::mem::take(&mut before[at]);
        let function = &kernel.functions[at];
        let mut walk =
            Walk { kernel, function, stores: &stores, before: &mut before, found: &mut found[at], stored };
        walk.block(&function.body);
    }
    found
}

/// The memory of the stores of a block and of its callees that may be dropped.
fn stored_in(kernel: &Kernel, function: &Function, block: &Block, stores: &[Buffers]) -> Buffers {
    let mut stored = Buffers::default();
    walk(block, &mut |stmt| match stmt {
        Stmt::BufferStore { buffer, index, .. } if !function.is_known_element(index) => {
            stored.insert(kernel.memory_of(*buffer));
        }
        Stmt::Eval(node) => {
            if let Some(callee) = callee(function, *node) {
                stored.extend(&stores[callee.idx()]);
            }
        }
        _ => {}
    });
    stored
}

fn callee(function: &Function, node: NodeId) -> Option<FunctionId> {
    match function.node(node).kind {
        NodeKind::Call { function, .. } => Some(function),
        _ => None,
    }
}

/// One path through a function.
struct Walk<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    /// The stores of each function.
    stores: &'a [Buffers],
    /// The stores that may precede each function.
    before: &'a mut [Buffers],
    found: &'a mut FxHashSet<NodeId>,
    /// So far.
    stored: Buffers,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Eval(node) => self.node(*node),
            Stmt::BufferStore { buffer, index, .. } if !self.function.is_known_element(index) => {
                self.stored.insert(self.kernel.memory_of(*buffer));
            }
            Stmt::If { then, orelse, .. } => {
                let before = self.stored.clone();
                self.block(then);
                let after = std::mem::replace(&mut self.stored, before);
                self.block(orelse);
                match [then, orelse].map(|block| block.last().is_some_and(is_terminator)) {
                    // The second one never continues.
                    [false, true] => self.stored = after,
                    [true, _] => {}
                    _ => self.stored.extend(after),
                }
            }
            Stmt::Loop(parts) => {
                for block in [&parts.test, &parts.body, &parts.step] {
                    let stored = stored_in(self.kernel, self.function, block, self.stores);
                    self.stored.extend(stored);
                }
                for block in [&parts.test, &parts.body, &parts.step] {
                    self.block(block);
                }
            }
            _ => {}
        }
    }

    fn node(&mut self, node: NodeId) {
        match self.function.node(node).kind {
            NodeKind::BufferLoad { buffer, .. } if self.stored.contains(&self.kernel.memory_of(buffer)) => {
                self.found.insert(node);
            }
            NodeKind::Call { function, .. } => {
                self.before[function.idx()].extend(&self.stored);
                self.stored.extend(&self.stores[function.idx()]);
            }
            _ => {}
        }
    }
}
