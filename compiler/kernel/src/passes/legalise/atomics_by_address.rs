//! Arrays that atomic operations need to reach by address.
//!
//! An atomic operation on a narrow number changes the whole 32-bit word, which a binding need not contain. A float in an
//! array of structs is changed as an int, while a second variable would access whole elements. Both need an address in
//! place of a binding. The operations themselves stay as they are.

use rustc_hash::FxHashSet;

use crate::ir::{AtomicPlace, BufferId, Kernel, NodeKind, part_at};
use crate::signature::Reach;

pub(super) fn apply(kernel: &mut Kernel) {
    let mut by_address = FxHashSet::default();
    for node in kernel.functions.iter().flat_map(|function| &function.nodes) {
        if let NodeKind::Atomic(atomic) = &node.kind
            && let AtomicPlace::Buffer { buffer, path, .. } = &atomic.place
            && let Some(scalar) = part_at(&kernel.buffers[buffer.idx()].element, path).scalar()
            && (scalar.bits() < 32 || scalar.is_float() && !path.is_empty())
        {
            by_address.insert(kernel.memory_of(*buffer));
        }
    }
    for (array, id) in kernel.buffers.iter_mut().zip(0..) {
        if by_address.contains(&array.view_of.unwrap_or(BufferId::Param(id))) {
            array.reach = Reach::Address;
        }
    }
}
