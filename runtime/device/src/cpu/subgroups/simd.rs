//! Subgroup operations of SIMD groups that consist of whole subgroups. Their lanes have already converged,
//! and their memory is interleaved as [`crate::cpu::lane::frames`] describes.

use super::Active;
use super::ops::{self, Slots};
use crate::cpu::emit::context::Context;

/// Performs an operation for the `active` lanes of a SIMD group, given as bits.
///
/// # Safety
/// Compiled code passes its context, with the operations of the kernel, and the memory of a SIMD group.
/// `width` is its number of lanes, and `granule` its interleaving in bytes.
pub unsafe extern "C" fn perform(
    context: *const Context,
    frame: *mut u8,
    op: u32,
    active: u32,
    width: u32,
    granule: u32,
) {
    // SAFETY: the dispatch keeps the operations alive while its code runs.
    let scheduler = unsafe { &*(*context).scheduler };
    let op = &scheduler.ops[op as usize];
    let [width, granule] = [width, granule].map(|n| n as usize);
    // SAFETY: lowering reserved eight bytes of each lane for each operand and result. Interleaving multiplies
    // their offset by the number of lanes.
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
