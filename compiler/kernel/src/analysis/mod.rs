//! Analyses of a verified kernel that may reject it: barriers in divergent control flow.

mod divergence;
mod reasons;

use kps_syntax::Diagnostics;

use crate::ir::Kernel;
pub(crate) use divergence::{differing, written_buffers};

pub(crate) fn check(kernel: &Kernel) -> Result<(), Diagnostics> {
    if !kernel.whole_groups {
        return Ok(());
    }
    divergence::check(kernel)
}
