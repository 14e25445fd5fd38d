//! Accesses to one of several arrays, which is selected at run time: `src, dst = dst, src` in a loop.
//!
//! Vulkan shaders cannot select between pointers without optional features. So a load, a store or an atomic operation
//! becomes a branch for each array, and a size becomes a select. After the pass no function has a choice of arrays.

use kps_syntax::Span;

use crate::constant::Constant;
use crate::ir::build::Builder;
use crate::ir::{
    Assignee, AtomicPlace, Block, BufferId, Choice, CompareOp, Extent, Function, Home, Kernel, Local,
    LocalId, NodeId, NodeKind, Stmt,
};
use crate::types::{Scalar, Type};

pub(super) fn apply(kernel: &mut Kernel) {
    let counts: Vec<Scalar> = kernel.buffers.iter().map(|buffer| buffer.counts.signed()).collect();
    for function in &mut kernel.functions {
        if function.choices.is_empty() {
            continue;
        }
        let body = std::mem::take(&mut function.body);
        let mut pass = Pass { choices: std::mem::take(&mut function.choices), function, counts: &counts };
        let body = pass.block(body);
        function.body = body;
        drop_unused(function);
    }
}

/// Nodes that no statement evaluates may still access choices.
fn drop_unused(function: &mut Function) {
    let is_unused =
        |node: &NodeId| matches!(buffer_of(&function.node(*node).kind), Some(BufferId::Choice(_)));
    let nodes = (0..function.nodes.len()).map(|at| NodeId(at as u32));
    let unused: Vec<NodeId> = nodes.filter(is_unused).collect();
    function.forget_nodes(unused);
}

struct Pass<'f> {
    choices: Vec<Choice>,
    function: &'f mut Function,
    /// The type of a count of each array parameter.
    counts: &'f [Scalar],
}

impl Pass<'_> {
    fn block(&mut self, before: Block) -> Block {
        let mut after = Block::with_capacity(before.len());
        let mut before = before.into_iter().peekable();
        while let Some(stmt) = before.next() {
            match stmt {
                Stmt::If { condition, then, orelse, span } => {
                    let (then, orelse) = (self.block(then), self.block(orelse));
                    after.push(Stmt::If { condition, then, orelse, span });
                }
                Stmt::Loop(mut parts) => {
                    for block in [&mut parts.test, &mut parts.body, &mut parts.step] {
                        *block = self.block(std::mem::take(block));
                    }
                    after.push(Stmt::Loop(parts));
                }
                Stmt::Eval(node) => match buffer_of(&self.function.node(node).kind) {
                    Some(BufferId::Choice(choice)) => {
                        let choice = self.choices[choice as usize].clone();
                        self.eval(node, &choice, &mut after);
                    }
                    _ => after.push(Stmt::Eval(node)),
                },
                Stmt::BufferStore { buffer: chosen @ BufferId::Choice(at), index, path, value, span } => {
                    let choice = self.choices[at as usize].clone();
                    let assigned = before.next_if(|stmt| is_assignment_to(stmt, chosen));
                    let stored = self.by_array(&choice, span, &|builder, buffer| {
                        let (index, path) = (index.clone(), path.clone());
                        builder.stmt(Stmt::BufferStore { buffer, index, path, value, span });
                        if let Some(assigned) = &assigned {
                            builder.stmt(assigned_in(assigned.clone(), buffer));
                        }
                    });
                    after.extend(stored);
                }
                stmt => after.push(stmt),
            }
        }
        after
    }

    /// Computes a node with the array that is chosen.
    fn eval(&mut self, node: NodeId, choice: &Choice, after: &mut Block) {
        match self.function.node(node).kind {
            NodeKind::BufferLoad { .. } | NodeKind::Atomic(_) => self.memory(node, choice, after),
            _ => self.size(node, choice, after),
        }
    }

    fn memory(&mut self, id: NodeId, choice: &Choice, after: &mut Block) {
        let node = self.function.node(id).clone();
        let result = (node.ty != Type::Void).then(|| self.new_local("kps.chosen", &node.ty, node.span));
        let accesses = self.by_array(choice, node.span, &|builder, buffer| {
            let kind = with_array(&node.kind, buffer);
            let value = builder.node(kind, node.ty.clone());
            if let Some(local) = result {
                builder.stmt(Stmt::Store { local, value, span: node.span });
            }
        });
        after.extend(accesses);
        if let Some(local) = result {
            self.function.nodes[id.idx()].kind = NodeKind::Load(local);
            after.push(Stmt::Eval(id));
        }
    }

    /// Sizes use selects, not branches.
    fn size(&mut self, id: NodeId, choice: &Choice, after: &mut Block) {
        let node = self.function.node(id).clone();
        let mut builder = Builder::at(self.function, after, node.span);
        let scalar = node.ty.scalar().expect("a size is a number");
        let mut values = Vec::with_capacity(choice.among.len());
        for &array in &*choice.among {
            let kind = with_array(&node.kind, array);
            let own = match kind {
                NodeKind::IsInside { .. } => Scalar::Bool,
                _ => self.counts[array.idx()],
            };
            let value = builder.node(kind, own);
            values.push((array, builder.convert(value, scalar)));
        }
        let (_, mut orelse) = values.pop().expect("a choice has arrays");
        for (at, (array, then)) in values.into_iter().enumerate().rev() {
            let condition = is_array(&mut builder, choice.selector, array);
            // The last select is the node itself.
            match at {
                0 => builder.replace(id, NodeKind::Select { condition, then, orelse }),
                _ => orelse = builder.select(condition, then, orelse),
            }
        }
        after.push(Stmt::Eval(id));
    }

    /// The same action for each array, in a branch of its own.
    fn by_array(&mut self, choice: &Choice, span: Span, act: &dyn Fn(&mut Builder, BufferId)) -> Block {
        let mut branch = |array: BufferId| {
            let mut block = Block::new();
            act(&mut Builder::at(self.function, &mut block, span), array);
            block
        };
        let branches: Vec<Block> = choice.among.iter().map(|array| branch(*array)).collect();
        let mut branches = choice.among.iter().zip(branches).rev();
        let (_, mut block) = branches.next().expect("a choice has arrays");
        for (array, then) in branches {
            let mut test = Block::new();
            let condition =
                is_array(&mut Builder::at(self.function, &mut test, span), choice.selector, *array);
            test.push(Stmt::If { condition, then, orelse: block, span });
            block = test;
        }
        block
    }

    fn new_local(&mut self, name: &str, ty: &Type, span: Span) -> LocalId {
        let id = LocalId(self.function.locals.len() as u32);
        self.function.locals.push(Local { name: name.into(), ty: ty.clone(), span, home: Home::Own });
        id
    }
}

fn is_array(builder: &mut Builder, selector: NodeId, array: BufferId) -> NodeId {
    let array = builder.constant(Constant::i32(array.idx() as i32));
    builder.compare(CompareOp::Equal, selector, array)
}

/// The same access to one array.
fn with_array(kind: &NodeKind, array: BufferId) -> NodeKind {
    let mut kind = kind.clone();
    match &mut kind {
        NodeKind::BufferLoad { buffer, .. }
        | NodeKind::BufferLen(buffer)
        | NodeKind::BufferAxis { buffer, .. }
        | NodeKind::IsInside { of: Extent::Elements(buffer), .. } => *buffer = array,
        NodeKind::Atomic(atomic) => {
            if let AtomicPlace::Buffer { buffer, .. } = &mut atomic.place {
                *buffer = array;
            }
        }
        _ => {}
    }
    kind
}

/// Whether a statement marks an assignment to an element of an array.
fn is_assignment_to(stmt: &Stmt, array: BufferId) -> bool {
    let Stmt::Assigned(assigned) = stmt else { return false };
    matches!(assigned.target, Assignee::Element { buffer, .. } if buffer == array)
}

/// The same assignment to an element of one array.
fn assigned_in(mut stmt: Stmt, array: BufferId) -> Stmt {
    if let Stmt::Assigned(assigned) = &mut stmt
        && let Assignee::Element { buffer, .. } = &mut assigned.target
    {
        *buffer = array;
    }
    stmt
}

/// The array that a node accesses.
fn buffer_of(kind: &NodeKind) -> Option<BufferId> {
    match kind {
        NodeKind::BufferLoad { buffer, .. }
        | NodeKind::BufferLen(buffer)
        | NodeKind::BufferAxis { buffer, .. }
        | NodeKind::IsInside { of: Extent::Elements(buffer), .. } => Some(*buffer),
        NodeKind::Atomic(atomic) => match &atomic.place {
            AtomicPlace::Buffer { buffer, .. } => Some(*buffer),
            AtomicPlace::Shared { .. } => None,
        },
        _ => None,
    }
}
