//! Rewrites of a kernel, node by node or statement by statement.
//!
//! In go a kernel and a rewrite; out comes the kernel in IR. The nodes that a rewrite builds are evaluated right before
//! the node or the statement.

use kps_syntax::Span;

use crate::constant::Constant;
use crate::ir::{
    BinaryOp, Block, CompareOp, FloatFn, Function, Kernel, Loop, Node, NodeId, NodeKind, Origin, Stmt,
};
use crate::types::{Scalar, Type};

/// Calls `rewrite` for every node where it is evaluated, in the order of the statements.
pub(crate) fn rewrite(kernel: &mut Kernel, mut rewrite: impl FnMut(&mut Builder, NodeId)) {
    kernel.functions.iter_mut().for_each(|function| rewrite_function(function, &mut rewrite));
}

/// [`rewrite`] for one function.
pub(crate) fn rewrite_function(function: &mut Function, rewrite: &mut dyn FnMut(&mut Builder, NodeId)) {
    rewrite_stmts(function, &mut |builder, stmt| {
        if let Stmt::Eval(node) = stmt {
            builder.begin_at(node);
            rewrite(builder, node);
        }
        builder.stmt(stmt);
    });
}

/// Calls `rewrite` for the nodes of some kinds, where they are evaluated.
pub(crate) fn rewrite_nodes(
    function: &mut Function,
    is_one: fn(&NodeKind) -> bool,
    rewrite: &mut dyn FnMut(&mut Builder, NodeId),
) {
    let body = std::mem::take(&mut function.body);
    function.body = block_of_nodes(function, body, is_one, rewrite);
}

fn block_of_nodes(
    function: &mut Function,
    mut before: Block,
    is_one: fn(&NodeKind) -> bool,
    rewrite: &mut dyn FnMut(&mut Builder, NodeId),
) -> Block {
    let mut has_some = false;
    for stmt in &mut before {
        let inner = |block: &mut Block| {
            *block = block_of_nodes(function, std::mem::take(block), is_one, rewrite);
        };
        match stmt {
            Stmt::Eval(node) => has_some |= is_one(&function.node(*node).kind),
            Stmt::If { then, orelse, .. } => [then, orelse].into_iter().for_each(inner),
            Stmt::Loop(parts) => {
                [&mut parts.test, &mut parts.body, &mut parts.step].into_iter().for_each(inner)
            }
            _ => {}
        }
    }
    if !has_some {
        return before;
    }
    let mut after = Block::with_capacity(before.len());
    for stmt in before {
        if let Stmt::Eval(node) = stmt
            && is_one(&function.node(node).kind)
        {
            let mut builder = Builder::at(function, &mut after, Span::default());
            builder.begin_at(node);
            rewrite(&mut builder, node);
        }
        after.push(stmt);
    }
    after
}

/// Replaces every statement of a function by what `rewrite` appends for it, in the order of the statements. A statement
/// with blocks comes after those in its blocks.
pub(crate) fn rewrite_stmts(function: &mut Function, rewrite: &mut dyn FnMut(&mut Builder, Stmt)) {
    let body = std::mem::take(&mut function.body);
    function.body = block(function, body, rewrite);
}

fn block(function: &mut Function, before: Block, rewrite: &mut dyn FnMut(&mut Builder, Stmt)) -> Block {
    let mut after = Block::with_capacity(before.len());
    for stmt in before {
        let stmt = match stmt {
            Stmt::If { condition, then, orelse, span } => {
                let then = block(function, then, rewrite);
                let orelse = block(function, orelse, rewrite);
                Stmt::If { condition, then, orelse, span }
            }
            Stmt::Loop(parts) => {
                let Loop { test, condition, body, step, span } = *parts;
                let test = block(function, test, rewrite);
                let body = block(function, body, rewrite);
                let step = block(function, step, rewrite);
                Stmt::Loop(Box::new(Loop { test, condition, body, step, span }))
            }
            other => other,
        };
        let span = function.span;
        rewrite(&mut Builder::at(function, &mut after, span), stmt);
    }
    after
}

/// Appends nodes to a block.
pub(crate) struct Builder<'f> {
    pub function: &'f mut Function,
    pub block: &'f mut Block,
    /// The place of new nodes in the source.
    pub span: Span,
    /// Where new nodes come from.
    pub origin: Origin,
}

impl<'f> Builder<'f> {
    /// At a place of the source.
    pub fn at(function: &'f mut Function, block: &'f mut Block, span: Span) -> Builder<'f> {
        Builder { function, block, span, origin: Origin::Compiler }
    }

    /// New nodes are steps of this one, or come from where it comes.
    fn begin_at(&mut self, node: NodeId) {
        let node = self.function.node(node);
        self.span = node.span;
        self.origin = match &node.origin {
            Origin::Result(_) => Origin::Step,
            origin => origin.clone(),
        };
    }

    /// New nodes are steps of this one, which is the result of the operation of the script that has these operands. A
    /// search for the first NaN reports no step.
    pub fn begin_steps(&mut self, node: NodeId, operands: &[NodeId]) {
        if self.function.node(node).origin == Origin::Source {
            self.function.nodes[node.idx()].origin = Origin::Result(operands.into());
            self.origin = Origin::Step;
        }
    }

    /// Gives a node another computation of the same value.
    pub fn replace(&mut self, node: NodeId, kind: NodeKind) {
        self.function.nodes[node.idx()].kind = kind;
    }

    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.function.node(node).kind.clone()
    }

    pub fn ty(&self, node: NodeId) -> Type {
        self.function.ty(node).clone()
    }

    pub fn node(&mut self, kind: NodeKind, ty: impl Into<Type>) -> NodeId {
        let id = self.push(kind, ty.into());
        self.block.push(Stmt::Eval(id));
        id
    }

    /// Gives a node the last operation, `computed`, which is evaluated in its place.
    pub fn replace_by_last(&mut self, node: NodeId, computed: NodeId) {
        let last = self.block.pop();
        assert!(matches!(last, Some(Stmt::Eval(last)) if last == computed), "it was the last one");
        let last = self.function.nodes.pop().expect("a node was built");
        assert_eq!(computed.idx(), self.function.nodes.len(), "it was the last one");
        self.replace(node, last.kind);
    }

    pub fn stmt(&mut self, stmt: Stmt) {
        self.block.push(stmt);
    }

    fn push(&mut self, kind: NodeKind, ty: Type) -> NodeId {
        let id = NodeId(self.function.nodes.len() as u32);
        self.function.nodes.push(Node { kind, ty, span: self.span, name: None, origin: self.origin.clone() });
        id
    }

    pub fn constant(&mut self, constant: Constant) -> NodeId {
        self.push(NodeKind::Constant(constant), constant.scalar().into())
    }

    pub fn opaque(&mut self, constant: Constant) -> NodeId {
        self.push(NodeKind::Opaque(constant), constant.scalar().into())
    }

    /// A scalar in every component of a type.
    pub fn splat(&mut self, scalar: NodeId, ty: &Type) -> NodeId {
        if ty.is_vector() { self.node(NodeKind::Splat(scalar), ty.clone()) } else { scalar }
    }

    /// Numbers as another scalar type.
    pub fn convert(&mut self, node: NodeId, to: Scalar) -> NodeId {
        if self.ty(node).scalar() == Some(to) {
            return node;
        }
        match self.function.constant(node) {
            Some(constant) => self.constant(constant.cast(to)),
            None => self.node(NodeKind::Convert(node), self.ty(node).with_scalar(to)),
        }
    }

    /// A number in every component of a type, unless it has all of them.
    pub fn splat_to(&mut self, number: NodeId, ty: &Type) -> NodeId {
        if self.ty(number).is_vector() { number } else { self.splat(number, ty) }
    }

    pub fn float(&mut self, ty: &Type, value: f64) -> NodeId {
        let constant = self.constant(Constant::float(ty.scalar().unwrap_or(Scalar::F32), value));
        self.splat(constant, ty)
    }

    /// Of a float type.
    pub fn opaque_zero(&mut self, ty: &Type) -> NodeId {
        let zero = self.opaque(Constant::float(ty.scalar().unwrap_or(Scalar::F32), 0.0));
        self.splat(zero, ty)
    }

    /// Zero, or `False`, in every part of a type.
    pub fn zero(&mut self, ty: &Type) -> NodeId {
        if let (Some(scalar), true) = (ty.scalar(), !ty.is_matrix()) {
            let zero = self.constant(Constant::zero(scalar));
            return match ty {
                Type::Scalar(_) => zero,
                _ => self.node(NodeKind::Splat(zero), ty.clone()),
            };
        }
        let n_parts = ty.n_parts().unwrap_or(0);
        let parts: Vec<NodeId> = match ty {
            Type::Array(array) => vec![self.zero(&array.element); n_parts as usize],
            _ => (0..n_parts).filter_map(|at| ty.part(at)).map(|part| self.zero(&part)).collect(),
        };
        self.node(NodeKind::Construct(parts), ty.clone())
    }

    pub fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> NodeId {
        let ty = self.ty(a);
        self.node(NodeKind::Binary(op, a, b), ty)
    }

    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: NodeId) -> NodeId {
        let bools = self.ty(a).with_scalar(Scalar::Bool);
        self.node(NodeKind::Compare(op, a, b), bools)
    }

    pub fn select(&mut self, condition: NodeId, then: NodeId, orelse: NodeId) -> NodeId {
        let ty = self.ty(then);
        self.node(NodeKind::Select { condition, then, orelse }, ty)
    }

    pub fn function_of(&mut self, function: FloatFn, x: NodeId) -> NodeId {
        let ty = self.ty(x);
        self.node(NodeKind::Float(function, [Some(x), None, None]), ty)
    }
}
