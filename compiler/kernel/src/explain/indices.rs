//! Which loads and stores are tested, and which loads give every invocation the same: read off the IR.

use kps_syntax::Span;

use super::{IndexTest, Remark, RemarkKind};
use crate::ir::{AtomicPlace, Function, NodeId, NodeKind, Step, Stmt, steps, walk};

/// Remarks on every access of a function at an index; `differs` says which of its nodes may differ
/// between invocations.
pub(super) fn remark(function: &Function, differs: &[bool], remarks: &mut Vec<Remark>) {
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::Eval(node) => remark_node(function, *node, differs, remarks),
        Stmt::BufferStore { index, path, span, .. } => {
            let indices = steps(path).chain([*index]);
            remarks.extend(tested(function, indices, IndexTest::TestedStore, *span));
        }
        Stmt::StoreElement { path, span, .. } => {
            remarks.extend(tested(function, steps(path), IndexTest::TestedStore, *span));
        }
        _ => {}
    });
}

fn remark_node(function: &Function, id: NodeId, differs: &[bool], remarks: &mut Vec<Remark>) {
    let node = function.node(id);
    match &node.kind {
        NodeKind::BufferLoad { index, path, .. } => {
            let indices = steps(path).chain([*index]);
            remarks.extend(tested(function, indices, IndexTest::TestedLoad, node.span));
            if differs.get(id.idx()) == Some(&false) {
                remarks.push(Remark { span: node.span, kind: RemarkKind::Uniform });
            }
        }
        NodeKind::LoadElement { path, .. } if has_index(path) => {
            remarks.extend(tested(function, steps(path), IndexTest::TestedLoad, node.span));
        }
        NodeKind::ExtractAt { index, .. } => {
            remarks.extend(tested(function, [*index], IndexTest::TestedLoad, node.span));
        }
        NodeKind::Atomic(atomic) => {
            let indices: Vec<NodeId> = match &atomic.place {
                AtomicPlace::Buffer { index, .. } => vec![*index],
                AtomicPlace::Shared { path, .. } => steps(path).collect(),
            };
            remarks.extend(tested(function, indices, IndexTest::TestedAtomic, node.span));
        }
        _ => {}
    }
}

fn has_index(path: &[Step]) -> bool {
    steps(path).next().is_some()
}

/// Whether an access at these indices is tested; nothing where it has none.
fn tested(
    function: &Function,
    indices: impl IntoIterator<Item = NodeId>,
    otherwise: IndexTest,
    span: Span,
) -> Option<Remark> {
    let mut indices = indices.into_iter().peekable();
    indices.peek()?;
    let is_proven = indices.all(|index| matches!(function.node(index).kind, NodeKind::Proven(_)));
    let test = if is_proven { IndexTest::Proven } else { otherwise };
    Some(Remark { span, kind: RemarkKind::Index(test) })
}
