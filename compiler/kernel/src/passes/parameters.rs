//! The layout of parameters, when it is known what the rest of the kernel needs.
//!
//! In go the functions and arrays of a legal kernel; out comes the layout of its push constants and its uniform buffer
//! (`push.rs`). Parameters that do not fit are reported here, because other passes add hidden ones.

use std::collections::BTreeSet;

use kps_syntax::{Diagnostic, Location};

use crate::errors;
use crate::ir::{BufferId, Kernel, NodeKind};
use crate::launch::Dispatches;
use crate::push::{Member, PUSH_CONSTANT_BYTES, PushLayout, UNIFORM_BYTES};
use crate::signature::Reach;

/// Lays out the blocks, which must fit the limits of every device. `header` is the place of the kernel's parameters.
pub(crate) fn lay_out(kernel: &mut Kernel, header: Location) -> Option<Diagnostic> {
    kernel.push =
        PushLayout::of(&kernel.scalars, &kernel.buffers, &hidden_members(kernel), kernel.assumptions.ids);
    let (push, spill) = (kernel.push.push.size, kernel.push.spill.size);
    if push <= PUSH_CONSTANT_BYTES && spill <= UNIFORM_BYTES {
        return None;
    }
    let limit = if spill > UNIFORM_BYTES { UNIFORM_BYTES } else { PUSH_CONSTANT_BYTES };
    let n_addresses = kernel
        .buffers
        .iter()
        .filter(|buffer| buffer.reach == Reach::Address && buffer.view_of.is_none())
        .count();
    Some(match n_addresses {
        0 => errors::too_many_scalars(header, push + spill, limit),
        n => errors::too_many_addresses(header, n, push, limit),
    })
}

/// The values that functions need from the runtime.
fn hidden_members(kernel: &Kernel) -> Vec<Member> {
    let nodes = kernel.functions.iter().flat_map(|function| &function.nodes);
    let axes = nodes.filter_map(|node| match node.kind {
        NodeKind::BufferAxis { buffer, axis } => Some((buffer, axis)),
        _ => None,
    });
    let axes: BTreeSet<(BufferId, u8)> = axes.collect();
    let base = (kernel.assumptions.dispatches == Dispatches::Several).then_some(Member::Base);
    // A part of a launch needs it to compute ids in the whole launch.
    let domain = (kernel.has_domain || base.is_some()).then_some(Member::Domain);
    let axes = axes.into_iter().map(|(buffer, axis)| Member::Axis(buffer, axis));
    let all = || (0..).map(BufferId::Param).zip(&kernel.buffers);
    let buffers = || all().filter(|(_, buffer)| buffer.view_of.is_none());
    let far = buffers().filter(|(_, buffer)| buffer.reach == Reach::Address);
    let addresses = far.map(|(id, _)| Member::Address(id));
    let reported = buffers().filter(|(_, buffer)| buffer.has_hidden_len());
    let lens = reported.map(|(id, _)| Member::Len(id));
    domain.into_iter().chain(base).chain(addresses).chain(axes).chain(lens).collect()
}
