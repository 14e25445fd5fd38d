//! Remarks on memory accesses, from the IR: which are bounds-tested, and which loads are uniform.

use kps_syntax::Span;

use crate::ir::{
    AtomicPlace, BufferId, ElementIndex, Function, Kernel, NodeId, NodeKind, Proof, Step, Stmt, steps, walk,
};
use crate::remark::{IndexTest, Remark, RemarkKind};

/// Remarks on every access of a function at an index; `differs` says which of its nodes may differ
/// between invocations.
pub(super) fn remark(kernel: &Kernel, function: &Function, differs: &[bool], remarks: &mut Vec<Remark>) {
    walk(&function.body, &mut |stmt| match stmt {
        Stmt::Eval(node) => remark_node(kernel, function, *node, differs, remarks),
        Stmt::BufferStore { buffer, index, path, span, .. } => {
            let indices = steps(path).chain(written(kernel, *buffer, index));
            remarks.extend(tested(function, indices, IndexTest::TestedStore, *span));
        }
        Stmt::StoreElement { path, span, .. } => {
            remarks.extend(tested(function, steps(path), IndexTest::TestedStore, *span));
        }
        _ => {}
    });
}

/// The index of an element if the source has it; a buffer of one struct has none.
fn written(kernel: &Kernel, buffer: BufferId, index: &ElementIndex) -> Option<NodeId> {
    (!kernel.buffers[buffer.idx()].is_cell).then_some(index.number())
}

fn remark_node(
    kernel: &Kernel,
    function: &Function,
    id: NodeId,
    differs: &[bool],
    remarks: &mut Vec<Remark>,
) {
    let node = function.node(id);
    match &node.kind {
        NodeKind::BufferLoad { buffer, index, path, .. } => {
            let indices = steps(path).chain(written(kernel, *buffer, index));
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
                AtomicPlace::Buffer { buffer, index, path } => {
                    written(kernel, *buffer, index).into_iter().chain(steps(path)).collect()
                }
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
    let is_proven =
        indices.all(|index| matches!(function.node(index).kind, NodeKind::Proven(Proof::InRange, _)));
    let test = if is_proven { IndexTest::Proven } else { otherwise };
    Some(Remark { span, kind: RemarkKind::Index(test) })
}
