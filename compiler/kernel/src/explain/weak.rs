//! The types of weakly typed literals in remarks.
//!
//! A literal adopts the type of its operand or of its list, but lowering also records the type that it would have
//! alone. In go a function and its remarks; out come the remarks with the types that the function uses.

use std::collections::BTreeSet;

use crate::ir::{Function, Local, LocalId, Node, NodeId, NodeKind, Stmt, walk};
use crate::types::Type;

use super::{Remark, RemarkKind, RemarkType};

pub(super) fn resolve(function: &Function, remarks: &mut Vec<Remark>) {
    let used = used(function);
    let used: Vec<&Node> = used.iter().map(|node| function.node(*node)).collect();
    resolve_numbers(&used, remarks);
    resolve_lists(function, &used, remarks);
}

fn resolve_numbers(used: &[&Node], remarks: &mut Vec<Remark>) {
    let mut resolved = Vec::new();
    for at in 0..remarks.len() {
        let RemarkKind::Taken(scalar) = remarks[at].kind else { continue };
        let span = remarks[at].span;
        for remark in remarks.iter_mut().filter(|remark| remark.span == span) {
            let RemarkKind::Type(ty) = &mut remark.kind else { continue };
            let RemarkType::Value(Type::Scalar(alone)) = ty else { continue };
            let is_used = used.iter().any(|node| node.span == span && node.ty == Type::Scalar(*alone));
            if !is_used {
                *alone = scalar;
                resolved.push(span);
            }
        }
    }
    remarks.retain(|remark| !matches!(remark.kind, RemarkKind::Taken(_)) || !resolved.contains(&remark.span));
}

/// For a list that was made in several types, keeps the one that is read.
fn resolve_lists(function: &Function, used: &[&Node], remarks: &mut [Remark]) {
    let local_of = |node: &&Node| match node.kind {
        NodeKind::Load(local) | NodeKind::LoadElement { local, .. } => Some(local),
        _ => None,
    };
    let read: BTreeSet<LocalId> = used.iter().filter_map(local_of).collect();
    for remark in remarks {
        let (RemarkKind::Assigned(ty) | RemarkKind::Type(ty)) = &mut remark.kind else { continue };
        let name = function.source.slice(remark.span);
        let is_it = |local: &&Local| *local.name == *name || local.span == remark.span;
        let mut named = read.iter().map(|local| function.local(*local)).filter(is_it);
        let is_list = matches!(ty, RemarkType::Value(Type::Array(_)));
        if let (true, Some(local), None) = (is_list, named.next(), named.next()) {
            *ty = RemarkType::Value(local.ty.clone());
        }
    }
}

/// The nodes that an effect depends on: a store, a branch, a call.
fn used(function: &Function) -> BTreeSet<NodeId> {
    let mut found: Vec<NodeId> = function.carries.iter().flatten().map(|(_, value)| *value).collect();
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::Eval(node) if !is_pure(&function.node(*node).kind) => found.push(*node),
        Stmt::Store { value, .. }
        | Stmt::StoreElement { value, .. }
        | Stmt::BufferStore { value, .. }
        | Stmt::CoopStore { value, .. }
        | Stmt::TextureWrite { value, .. }
        | Stmt::PortStore { value, .. }
        | Stmt::Return(Some(value), _)
        | Stmt::If { condition: value, .. } => found.push(*value),
        Stmt::Loop(parts) => found.extend(parts.condition),
        Stmt::Record(record) => found.extend(&record.values),
        _ => {}
    });
    let mut used = BTreeSet::new();
    while let Some(node) = found.pop() {
        if used.insert(node) {
            function.node(node).kind.operands(&mut |operand| found.push(operand));
        }
    }
    used
}

/// Whether a node has no effect.
fn is_pure(kind: &NodeKind) -> bool {
    matches!(
        kind,
        NodeKind::Load(_)
            | NodeKind::LoadElement { .. }
            | NodeKind::Binary(..)
            | NodeKind::Unary(..)
            | NodeKind::Select { .. }
            | NodeKind::Abs(_)
            | NodeKind::Convert(_)
            | NodeKind::Compare(..)
    )
}
