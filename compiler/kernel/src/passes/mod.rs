//! Passes over the typed IR, between lowering and verification.
//!
//! A pass takes a kernel in IR and gives the kernel in IR again. It never sees a syntax tree, and never reports a
//! mistake of the script: lowering has found those. A kernel with mistakes passes through, too, so a pass expects no
//! more than lowering guarantees of an incomplete kernel: every id exists.
//!
//! | Pass | Rewrites |
//! |---|---|
//! | `legalise` | what the IR can say and the target cannot do |

pub(crate) mod build;
pub(crate) mod legalise;

use crate::ir::FunctionId;
use crate::remark::Remark;

/// A remark on a place of a function.
pub(crate) type FunctionRemark = (FunctionId, Remark);
