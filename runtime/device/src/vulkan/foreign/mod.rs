//! Makes an external module safe for a driver.
//!
//! SPIR-V leaves indices out of range undefined in shared memory, variables and push constants, and drivers
//! that run on the host's memory then overwrite the process. `guard` clamps those indices, and `refusals`
//! refuses what cannot be clamped. For Mesa's software driver, `hints` removes harmful hints, and `loops`
//! works around its bug with invocations that leave a loop early. The device itself bounds buffers and images
//! (robust access). Modules of the kernel compiler of this process skip all this.

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

/// The module for the driver. `words` are valid, in the host's byte order, and parsed as `module`.
pub(super) fn bounded<'w>(
    physical: &Physical,
    words: Cow<'w, [u32]>,
    module: &Module,
    constants: &Constants,
) -> Result<Cow<'w, [u32]>> {
    refusals::check(physical, module)?;
    let guarded = guard::guard(&words, module, constants)?;
    if let guard::Guarded::Specialised(words) = &guarded {
        // Only now does the validator know the lengths of arrays inside composites.
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
