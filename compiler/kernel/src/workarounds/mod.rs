//! Workarounds for faults of drivers: a pass over the verified IR, between verification and emission.
//!
//! In go a kernel and the workarounds of its device's driver; out comes an equivalent kernel, verified again. [`TABLE`]
//! has a row for each fault of each driver, and a file for each rewrite. The pass applies the rows in order.
//! `docs/src/reference/workarounds.md` is printed from the table. A workaround never writes SPIR-V: it uses neutral
//! constructs of the IR, such as [`NodeKind::Opaque`](crate::ir::NodeKind::Opaque).
//!
//! CONTRIBUTING.md says how to add one.

mod constant_differences;
mod driver;
mod dropped_stores;
mod float_constants;
mod floor_division;
mod folded_zeros;
mod half_rounding;
mod loop_exits;
mod narrow_ints;
mod nested_returns;
mod rounding_of_doubles;
pub(crate) mod rows;
mod sign_bits;
mod vector_division;
mod wide_comparisons;
mod zero_divisors;

use kps_syntax::Diagnostics;

use crate::ir::Kernel;
use crate::verify::{self, Verified};

pub use driver::{Driver, Version, Versions};
pub use rows::Workarounds;

/// One fault of one driver, with its workaround.
pub struct Workaround {
    /// Its name in tests and on the page.
    pub name: &'static str,
    pub driver: Driver,
    pub versions: Versions,
    /// The fault, in a sentence.
    pub fault: &'static str,
    /// The workaround, in a sentence.
    pub remedy: &'static str,
    /// The case that is wrong on this driver without it.
    pub test: &'static str,
    apply: fn(&mut Kernel),
}

const MESA_22_3_6: Versions = Versions { seen: Version::new(22, 3, 6), fixed: None };
const NVIDIA_580: Versions = Versions { seen: Version::new(580, 159, 4), fixed: None };

/// ORDER: constants are laundered before other rows add constants of their own, and floor divisions are expanded before
/// their operations are replaced.
pub const TABLE: &[Workaround] = &[
    Workaround {
        name: "folded-zeros",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Takes `x * 0.0` for 0.0, `x + 0.0` for `x` and `0.0 / x` for 0.0 where it sees the zero, which costs \
                signs of zeros, infinities and NaNs.",
        remedy: "In precise kernels float constants are opaque, and 0.0 is added to what is converted from an int.",
        test: "tests/cases/kernels/literal_zeros_keep_signs_and_infinities.kps",
        apply: folded_zeros::apply,
    },
    Workaround {
        name: "constant-differences",
        driver: Driver::Nvidia,
        versions: NVIDIA_580,
        fault: "Rounds a difference of two f32 constants wrongly where it is a tie.",
        remedy: "In precise kernels f32 constants are opaque, and 0.0 is added to what is converted from an int.",
        test: "tests/cases/kernels/constants_are_rounded_as_values_are.kps",
        apply: constant_differences::apply,
    },
    Workaround {
        name: "zero-divisors",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Takes a quotient by a constant 0.0 for undefined and leaves out what is stored of it; the angle of \
                a constant 0.0 is NaN.",
        remedy: "Constant zeros that floats are divided by, and those given to `atan2`, are opaque.",
        test: "tests/cases/kernels/divided_by_a_zero_that_is_written.kps",
        apply: zero_divisors::apply,
    },
    Workaround {
        name: "sign-bits",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Chooses wrong bits where `(x & m) | (y & ~m)` is itself chosen, on processors with AVX-512 (LLVM 15).",
        remedy: "A sign is copied by a choice between a float and its negation; a float `//` that is zero gets its \
                 sign by a product with an opaque zero.",
        test: "tests/cases/kernels/copied_signs_beside_a_choice.kps",
        apply: sign_bits::apply,
    },
    Workaround {
        name: "rounding-of-doubles",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Takes every f64 beyond 2^24 for whole and rounds halves towards zero, in remainders too, on processors \
                without AVX-512.",
        remedy: "`trunc`, `round`, remainders, `//` and `%` of f64 are made of `floor` and `ceil`, which are right.",
        test: "tests/cases/kernels/doubles_are_rounded.kps",
        apply: rounding_of_doubles::apply,
    },
    Workaround {
        name: "wide-comparisons",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Compares an i32 that was converted to 64 bits wrongly with a constant: `i64(x) < 100` is false.",
        remedy: "An i32 is extended to 64 bits by arithmetic.",
        test: "tests/cases/kernels/wide_ints_compare_with_numbers.kps",
        apply: wide_comparisons::apply,
    },
    Workaround {
        name: "dropped-stores",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Answers a load out of range with what the invocation stored to that index before, though the store \
                was dropped.",
        remedy: "The words check the bounds of loads of a buffer that the invocation may have stored to before.",
        test: "tests/cases/kernels/out_of_range_reads_zero_behind_a_store.kps",
        apply: dropped_stores::apply,
    },
    Workaround {
        name: "loop-exits",
        driver: Driver::Lavapipe,
        versions: MESA_22_3_6,
        fault: "Makes no phi behind a loop whose exits all bring one value, so later rounds overwrite it for lanes \
                that have left.",
        remedy: "Loops that assign in their test, or have none, get a second exit that is never taken and brings zeros.",
        test: "tests/cases/kernels/lanes_keep_what_they_had_when_they_left_a_loop.kps",
        apply: loop_exits::apply,
    },
    Workaround {
        name: "narrow-ints",
        driver: Driver::Nvidia,
        versions: NVIDIA_580,
        fault: "Widens an int that was made narrow to what it was before: `i32(-a)` of an i8 that is -128 is 128.",
        remedy: "Ints of 8 and 16 bits are widened by arithmetic.",
        test: "tests/cases/kernels/negated_narrow_ints_wrap_before_they_widen.kps",
        apply: narrow_ints::apply,
    },
    Workaround {
        name: "half-rounding",
        driver: Driver::Nvidia,
        versions: NVIDIA_580,
        fault: "Leaves out the rounding to f16 of what is widened again: `f32(f16(x))` is `x`.",
        remedy: "What is rounded to f16 goes through its bits, joined with those of an opaque 0.",
        test: "tests/cases/kernels/rounded_numbers_stay_rounded.kps",
        apply: half_rounding::apply,
    },
    Workaround {
        name: "vector-division",
        driver: Driver::Nvidia,
        versions: NVIDIA_580,
        fault: "Divides vectors of ints by 1 where a condition chooses the divisors.",
        remedy: "Vectors of ints are divided component by component.",
        test: "tests/witness/cases/components_have_their_own_quotients.kps",
        apply: vector_division::apply,
    },
    Workaround {
        name: "nested-returns",
        driver: Driver::Nvidia,
        versions: NVIDIA_580,
        fault: "Its compiler crashes on some kernels that return from within loops, or choices within choices.",
        remedy: "The device enters a wrapper that calls such a kernel.",
        test: "tests/witness/cases/return_beside_a_loop_in_a_branch.kps",
        apply: nested_returns::apply,
    },
];

impl Workarounds {
    /// Those for a version of a driver; for all versions where it is not known.
    pub const fn of(driver: Driver, version: Option<Version>) -> Workarounds {
        let (mut rows, mut at) = (0, 0);
        while at < TABLE.len() {
            if TABLE[at].driver as u32 == driver as u32 && TABLE[at].versions.include(version) {
                rows |= 1 << at;
            }
            at += 1;
        }
        Workarounds::of_rows(rows)
    }

    /// Those for a Vulkan driver, by its `VkDriverId` and its version string: `Mesa 22.3.6 (LLVM 15.0.6)`.
    pub fn of_vulkan_driver(id: i32, version: &str) -> Workarounds {
        Driver::of_vulkan_id(id)
            .map_or(Workarounds::NONE, |driver| Workarounds::of(driver, Version::parse(version)))
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Workarounds> {
        let at = TABLE.iter().position(|row| row.name == name)?;
        Some(Workarounds::of_rows(1 << at))
    }
}

/// The kernel with these workarounds.
///
/// # Errors
///
/// A mistake of this compiler, where a workaround breaks the kernel.
pub(crate) fn apply(
    kernel: Verified<Kernel>,
    workarounds: Workarounds,
) -> Result<Verified<Kernel>, Diagnostics> {
    if workarounds == Workarounds::NONE {
        return Ok(kernel);
    }
    let mut kernel = kernel.into_inner();
    for (at, row) in TABLE.iter().enumerate() {
        if workarounds.have_row(at) {
            (row.apply)(&mut kernel);
        }
    }
    verify::verify(kernel)
}
