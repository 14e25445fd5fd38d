//! Arrays that atomic operations need to reach by address.
//!
//! An atomic operation on a narrow number changes the whole 32-bit word, which a binding need not contain. A float in an
//! array of structs is changed as an int, while a second variable would access whole elements. Both need an address in
//! place of a binding. The operations themselves stay as they are.

use crate::ir::{AtomicPlace, Kernel, NodeKind, part_at};
use crate::signature::Reach;

pub(super) fn apply(kernel: &mut Kernel) {
    for node in kernel.functions.iter().flat_map(|function| &function.nodes) {
        if let NodeKind::Atomic(atomic) = &node.kind
            && let AtomicPlace::Buffer { buffer, path, .. } = &atomic.place
            && let array = &mut kernel.buffers[buffer.idx()]
            && let Some(scalar) = part_at(&array.element, path).scalar()
            && (scalar.bits() < 32 || scalar.is_float() && !path.is_empty())
        {
            array.reach = Reach::Address;
        }
    }
}
