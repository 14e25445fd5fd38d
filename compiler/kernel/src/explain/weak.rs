//! Numbers that took the type that they met, such as elements of lists of literals: lowering told the type that they
//! have alone, too, which may be computed nowhere.
//!
//! In go a function and the remarks on it; out they come with the types that something uses.

use std::collections::BTreeSet;

use crate::ir::{Function, Local, LocalId, Node, NodeId, NodeKind, Stmt, walk};
use crate::types::Type;

use super::{Remark, RemarkKind, RemarkType};

pub(super) fn settle(function: &Function, remarks: &mut Vec<Remark>) {
    let used = used(function);
    let used: Vec<&Node> = used.iter().map(|node| function.node(*node)).collect();
    settle_numbers(&used, remarks);
    settle_lists(function, &used, remarks);
}

fn settle_numbers(used: &[&Node], remarks: &mut Vec<Remark>) {
    let mut settled = Vec::new();
    for at in 0..remarks.len() {
        let RemarkKind::Taken(scalar) = remarks[at].kind else { continue };
        let span = remarks[at].span;
        for remark in remarks.iter_mut().filter(|remark| remark.span == span) {
            let RemarkKind::Type(ty) = &mut remark.kind else { continue };
            let RemarkType::Value(Type::Scalar(alone)) = ty else { continue };
            let is_used = used.iter().any(|node| node.span == span && node.ty == Type::Scalar(*alone));
            if !is_used {
                *alone = scalar;
                settled.push(span);
            }
        }
    }
    remarks.retain(|remark| !matches!(remark.kind, RemarkKind::Taken(_)) || !settled.contains(&remark.span));
}

/// Of a list that was made in several types, the one that is read.
fn settle_lists(function: &Function, used: &[&Node], remarks: &mut [Remark]) {
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

/// What something comes of: a store, a branch, a call.
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

/// Whether nothing comes of it alone.
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
