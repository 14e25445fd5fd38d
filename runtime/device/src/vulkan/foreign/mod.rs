//! A module from elsewhere in, a module that a driver can be trusted with out.
//!
//! SPIR-V leaves it undefined what an index out of range does in shared memory, in variables and in push
//! constants, and drivers on the host's own memory then overwrite the process. `guard` clamps those indices,
//! `refusals` refuses what cannot be clamped. For Mesa's software driver `hints` leaves out hints that it follows at any
//! cost, and `loops` goes around what it does to invocations that leave a loop early.
//! Buffers and images are bounded by the device itself (robust access).
//! Words of the kernel compiler of this process do not come here.

mod globals;
mod guard;
mod hints;
mod loops;
mod refusals;

use std::borrow::Cow;

use rspirv::dr::Module;

use super::physical::Physical;
use super::validity;
use crate::reflect::Constants;
use crate::{DeviceError, Result};

/// The words for the driver. `words` are valid, in the host's byte order, and parsed as `module`.
pub(super) fn bounded<'w>(
    physical: &Physical,
    words: Cow<'w, [u32]>,
    module: &Module,
    constants: &Constants,
) -> Result<Cow<'w, [u32]>> {
    refusals::check(physical, module)?;
    let guarded = guard::guard(&words, module, constants)?;
    if let guard::Guarded::Specialised(words) = &guarded {
        // Only now the validator knows how long the arrays are that composites are parts of.
        validity::check(physical, words)?;
    }
    let words = match guarded {
        guard::Guarded::Same => words,
        guard::Guarded::Clamped(words) | guard::Guarded::Specialised(words) => Cow::Owned(words),
    };
    Ok(match physical.is_llvmpipe {
        true => loops::with_exits(hints::without_unrolling(words)),
        false => words,
    })
}

fn bad_module(message: String) -> DeviceError {
    DeviceError::BadModule { message, line: None }
}
