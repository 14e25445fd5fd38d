//! What drivers get wrong, which words made for them go around.
//!
//! Each fault says what was seen; the emitter's files say what they do about it. A driver is known by the name that
//! its device gives itself.

/// The faults of one driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Faults {
    /// The driver goes wrong where it sees a constant: a float operand that is zero costs signs, infinities and
    /// NaNs, which precise kernels do not let it see, and an i32 made wider is compared wrongly with a number. It also
    /// answers a load out of range with what was stored to that index, and may swap what bits are chosen from.
    pub misfolds: bool,
    /// The driver takes every f64 beyond 2^24 for whole, and rounds half numbers towards zero.
    pub misrounds: bool,
    /// The driver widens what was made narrow to what it was before: `i32(-a)` of an i8 that is -128 is 128 there, and
    /// `f32(f16(x))` is x.
    pub miswidens: bool,
    /// The driver divides ints of vectors by 1, where the divisors are chosen by a condition.
    pub misdivides: bool,
    /// The driver rounds a difference of f32 constants wrongly where it is a tie.
    pub missubtracts: bool,
    /// The driver dies of some kernels that return from within loops, or choices within choices.
    pub misreturns: bool,
}

impl Faults {
    pub const NONE: Faults = Faults {
        misfolds: false,
        misrounds: false,
        miswidens: false,
        misdivides: false,
        missubtracts: false,
        misreturns: false,
    };

    /// Mesa's software driver, as of Mesa 22.3 with LLVM 15.
    pub const LAVAPIPE: Faults = Faults { misfolds: true, misrounds: true, ..Faults::NONE };

    /// NVIDIA's driver, as of 580.159.
    pub const NVIDIA: Faults =
        Faults { miswidens: true, misdivides: true, missubtracts: true, misreturns: true, ..Faults::NONE };

    /// Of the driver whose device has this name.
    pub fn of_driver(device_name: &str) -> Faults {
        match device_name {
            name if name.starts_with("llvmpipe") => Faults::LAVAPIPE,
            name if name.starts_with("NVIDIA") => Faults::NVIDIA,
            _ => Faults::NONE,
        }
    }

    /// These and those.
    pub const fn or(self, other: Faults) -> Faults {
        Faults {
            misfolds: self.misfolds | other.misfolds,
            misrounds: self.misrounds | other.misrounds,
            miswidens: self.miswidens | other.miswidens,
            misdivides: self.misdivides | other.misdivides,
            missubtracts: self.missubtracts | other.missubtracts,
            misreturns: self.misreturns | other.misreturns,
        }
    }
}
