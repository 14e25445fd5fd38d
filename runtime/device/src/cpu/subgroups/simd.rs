//! What subgroups do together that lie whole in a gang. Their lanes are at the operation already, and their memory is
//! woven, as [`crate::cpu::lane::frames`] has it.

use super::Active;
use super::ops::{self, Slots};
use crate::cpu::emit::context::Context;

/// Lets the lanes of a gang that are `active`, as bits, do an operation together.
///
/// # Safety
/// Compiled code passes its context, which has the operations of the kernel, and the memory of a gang of `width`
/// lanes in granules of so many bytes.
pub unsafe extern "C" fn perform(
    context: *const Context,
    frame: *mut u8,
    op: u32,
    active: u32,
    width: u32,
    granule: u32,
) {
    // SAFETY: the dispatch keeps the operations for as long as its code runs.
    let scheduler = unsafe { &*(*context).scheduler };
    let op = &scheduler.ops[op as usize];
    let [width, granule] = [width, granule].map(|n| n as usize);
    // SAFETY: lowering set aside eight bytes of each lane for each operand and result; where they begin in those of
    // one lane, they begin so many times further in those of all.
    let slots = unsafe {
        let start = frame.add(op.slots as usize * width);
        Slots::new(start, [granule, 8 * width], scheduler.subgroup_size)
    };
    let all = Active { first: 0, bits: active.into() };
    for first in (0..width).step_by(scheduler.subgroup_size) {
        let own = Active::first(first, scheduler.subgroup_size);
        let there = Active { bits: all.bits >> first & own.bits, ..own };
        if there.bits != 0 {
            ops::perform(&slots, op, there);
        }
    }
}
