//! Passes over the typed IR, between lowering and verification.
//!
//! A pass takes a kernel in IR and gives the kernel in IR again. It never sees a syntax tree. It reports no mistake of
//! the script, which inference has found, except for parameters that do not fit. A kernel with mistakes passes through,
//! too, so a pass expects no more than inference guarantees of an incomplete kernel: every id exists.
//!
//! They run in this order:
//!
//! | Pass | Rewrites |
//! |---|---|
//! | `if_conversion` | branches that only choose between values |
//! | `legalise` | what the IR can say and the target cannot do |
//! | `ranges` | accesses at indices that are in range, and divisions that need no sign |
//! | `instrument` | what `print`, `assert`, traces and checks report |
//! | `split_lists` | lists whose indices are constants, into variables |
//! | `flatten` | the indices along several axes, into the number of the element |
//! | `parameters` | the layout of parameters, as the others need it |

mod flatten;
mod if_conversion;
mod instrument;
pub(crate) mod legalise;
mod parameters;
mod ranges;
mod split_lists;

use kps_syntax::{Diagnostics, Location};

use crate::ir::Kernel;
use crate::remark::FunctionRemark;
use crate::signature::Target;

/// Runs all passes. `header` is the place of the kernel's parameters. Adds to the mistakes of the kernel.
pub(crate) fn run(
    kernel: &mut Kernel,
    target: &Target,
    header: Location,
    mistakes: &mut Diagnostics,
) -> Vec<FunctionRemark> {
    // ORDER: an operation is checked where the source asks for it, so its branch stays until the check is stated.
    if !target.checks {
        if_conversion::apply(kernel);
    }
    let remarks = legalise::apply(kernel);
    // They rely on the rules of `verify`, which kernels with mistakes break.
    if mistakes.is_empty() {
        ranges::apply(kernel);
        // ORDER: what is proven needs no check, and the parameters depend on all that the other passes add.
        instrument::apply(kernel, target);
        // ORDER: a trace names lists as the source does.
        split_lists::apply(kernel);
    }
    if target.checks {
        if_conversion::apply(kernel);
    }
    // ORDER: the others see the index along each axis.
    flatten::apply(kernel);
    if let Some(mistake) = parameters::lay_out(kernel, header) {
        mistakes.push(mistake);
    }
    remarks
}
