//! Scalar replacement of lists: a list of which every index is a constant becomes a variable for each element.
//!
//! Drivers keep such variables in registers. A list whose elements are indexed at run time stays in memory, and so does
//! one that is passed to a function or that paths exchange as a whole. A list of lists is split axis by axis.

use crate::ir::build::{self, Builder};
use crate::ir::{
    AssignedValue, Assignee, CallArg, Function, Home, Kernel, Local, LocalId, Node, NodeId, NodeKind, Step,
    Stmt, walk,
};
use crate::types::Type;

/// A longer list stays in memory: no invocation has so many registers.
const MAX_LEN: u32 = 128;

pub(super) fn apply(kernel: &mut Kernel) {
    for function in &mut kernel.functions {
        loop {
            let lists = lists_to_split(function);
            if lists.iter().all(|splits| !splits) {
                break;
            }
            split(function, &lists);
        }
    }
}

/// Whether each local is split: an element of it is accessed, and each one by a constant.
fn lists_to_split(function: &Function) -> Vec<bool> {
    let is_list = |local: &Local| match &local.ty {
        Type::Array(list) => local.home == Home::Own && list.len <= MAX_LEN,
        _ => false,
    };
    let may_split: Vec<bool> = function.locals.iter().map(is_list).collect();
    let mut uses =
        Uses { is_accessed: vec![false; may_split.len()], stays: may_split.iter().map(|may| !may).collect() };
    for node in &function.nodes {
        match &node.kind {
            NodeKind::LoadElement { local, path } => uses.access(*local, path),
            NodeKind::Call { args, .. } => args.iter().for_each(|arg| {
                if let CallArg::Reference(local) = arg {
                    uses.stays[local.idx()] = true;
                }
            }),
            _ => {}
        }
    }
    for (local, _) in function.carries.iter().flatten() {
        uses.stays[local.idx()] = true;
    }
    walk(&function.body, &mut |stmt| {
        if let Stmt::StoreElement { local, path, .. } = stmt {
            uses.access(*local, path);
        }
    });
    uses.is_accessed.into_iter().zip(uses.stays).map(|(is_accessed, stays)| is_accessed && !stays).collect()
}

/// The uses of each local.
struct Uses {
    is_accessed: Vec<bool>,
    /// A use of it needs memory.
    stays: Vec<bool>,
}

impl Uses {
    fn access(&mut self, local: LocalId, path: &[Step]) {
        self.is_accessed[local.idx()] = true;
        self.stays[local.idx()] |= !matches!(path.first(), Some(Step::Part(_)));
    }
}

/// Replaces these lists.
fn split(function: &mut Function, lists: &[bool]) {
    let elements: Vec<Option<Vec<LocalId>>> =
        lists.iter().enumerate().map(|(at, splits)| splits.then(|| new_locals(function, at))).collect();
    let element =
        |list: LocalId, path: &[Step]| Some(elements[list.idx()].as_ref()?[path[0].part() as usize]);
    for node in &mut function.nodes {
        if let NodeKind::LoadElement { local, path } = &node.kind
            && let Some(local) = element(*local, path)
        {
            node.kind = match &path[1..] {
                [] => NodeKind::Load(local),
                rest => NodeKind::LoadElement { local, path: rest.to_vec() },
            };
        }
    }
    build::rewrite_stmts(function, &mut |builder, stmt| match stmt {
        Stmt::Eval(node) => {
            if let NodeKind::Load(list) = builder.function.node(node).kind
                && let Some(Some(elements)) = elements.get(list.idx())
            {
                load(builder, node, elements);
            }
            builder.stmt(Stmt::Eval(node));
        }
        Stmt::Store { local, value, span } if let Some(Some(elements)) = elements.get(local.idx()) => {
            for (at, local) in (0..).zip(elements) {
                let value = part(builder, value, at);
                builder.stmt(Stmt::Store { local: *local, value, span });
            }
        }
        Stmt::StoreElement { local: list, path, value, span } if let Some(local) = element(list, &path) => {
            builder.stmt(match &path[1..] {
                [] => Stmt::Store { local, value, span },
                rest => Stmt::StoreElement { local, path: rest.to_vec(), value, span },
            });
        }
        // A trace, which reads these, is made before.
        Stmt::Assigned(assigned) if is_about(&assigned.target, &assigned.value, &elements) => {}
        stmt => builder.stmt(stmt),
    });
}

/// A local for each element of a list.
fn new_locals(function: &mut Function, list: usize) -> Vec<LocalId> {
    let Local { name, ty, span, home } = function.locals[list].clone();
    let Type::Array(array) = &ty else { unreachable!("only lists are split") };
    let first = function.locals.len() as u32;
    let element =
        |at: u32| Local { name: format!("{name}[{at}]").into(), ty: array.element.clone(), span, home };
    function.locals.extend((0..array.len).map(element));
    (first..first + array.len).map(LocalId).collect()
}

/// Makes the load of a whole list the list of its elements.
fn load(builder: &mut Builder, node: NodeId, elements: &[LocalId]) {
    builder.span = builder.function.node(node).span;
    let loads = elements.iter().map(|local| {
        let ty = builder.function.local(*local).ty.clone();
        builder.node(NodeKind::Load(*local), ty)
    });
    let loads = loads.collect();
    builder.replace(node, NodeKind::Construct(loads));
}

/// An element of a list that is a value.
fn part(builder: &mut Builder, list: NodeId, at: u32) -> NodeId {
    let Node { kind, ty, span, .. } = builder.function.node(list);
    if let NodeKind::Construct(parts) = kind {
        return parts[at as usize];
    }
    let element = ty.part(at).expect("a list has its elements");
    builder.span = *span;
    builder.node(NodeKind::Extract(list, at), element)
}

fn is_about(target: &Assignee, value: &AssignedValue, elements: &[Option<Vec<LocalId>>]) -> bool {
    let is_split = |local: &LocalId| matches!(elements.get(local.idx()), Some(Some(_)));
    let is_target = matches!(target, Assignee::Local { local, .. } if is_split(local));
    is_target || is_loaded(value, &is_split)
}

fn is_loaded(value: &AssignedValue, is_split: &dyn Fn(&LocalId) -> bool) -> bool {
    match value {
        AssignedValue::Node(_) => false,
        AssignedValue::InMemory { load, .. } => match load {
            NodeKind::Load(local) | NodeKind::LoadElement { local, .. } => is_split(local),
            _ => false,
        },
        AssignedValue::Tuple(items) => items.iter().any(|item| is_loaded(item, is_split)),
    }
}
