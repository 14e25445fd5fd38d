//! Functions on the bits of numbers.

use super::row::{FUNCTION, Gives, Row, any, int};
use super::section::{ALONE, Rows, Section};
use super::typing::{BitsFn, NumberRule, Typing, ValueRule};

pub static SECTION: Section = Section { title: "Bits", about: "", rows: Rows::Functions(ROWS), setup: ALONE };

const ROWS: &[Row] = &[
    Row {
        names: &["bitcast"],
        params: &[any("T").sample("u32"), any("x")],
        result: Gives::Other("the type `T`"),
        typing: Typing::Value(ValueRule::Bitcast),
        external: &[
            (&["__float_as_int", "floatBitsToInt", "asint", "as_int"], "write `bitcast(i32, x)`"),
            (&["__float_as_uint", "floatBitsToUint", "asuint", "as_uint"], "write `bitcast(u32, x)`"),
            (
                &[
                    "__int_as_float",
                    "__uint_as_float",
                    "intBitsToFloat",
                    "uintBitsToFloat",
                    "asfloat",
                    "as_float",
                ],
                "write `bitcast(f32, n)`",
            ),
        ],
        doc: "The bits of `x` as another type of the same size.",
        example: "bitcast(u32, f32(1.0))",
        ..FUNCTION
    },
    Row {
        names: &["popcount"],
        params: &[int("x")],
        result: Gives::Ints,
        typing: Typing::Numbers(NumberRule::Bits(BitsFn::Popcount)),
        exact: &["T(popcount(x))"],
        external: &[(
            &[
                "__popc",
                "__popcll",
                "popc",
                "popcnt",
                "bitCount",
                "bit_count",
                "bitwise_count",
                "countOneBits",
                "count_ones",
                "countbits",
            ],
            "",
        )],
        doc: "The number of ones.",
        example: "popcount(13)",
        ..FUNCTION
    },
    Row {
        names: &["clz"],
        params: &[int("x")],
        result: Gives::Ints,
        typing: Typing::Numbers(NumberRule::Bits(BitsFn::LeadingZeros)),
        exact: &["T(clz(x))"],
        external: &[(
            &[
                "__clz",
                "__clzll",
                "countLeadingZeros",
                "leading_zeros",
                "findMSB",
                "firstLeadingBit",
                "firstbithigh",
                "bit_length",
            ],
            "write `clz(x)`, the number of zeros above the highest one, or `x.bit_length()`",
        )],
        doc: "The number of zeros above the highest one; the width of the type for 0.",
        example: "clz(i32(1))",
        ..FUNCTION
    },
    Row {
        names: &["ctz"],
        params: &[int("x")],
        result: Gives::Ints,
        typing: Typing::Numbers(NumberRule::Bits(BitsFn::TrailingZeros)),
        exact: &["T(ctz(x))"],
        external: &[(
            &[
                "__ffs",
                "__ffsll",
                "ffs",
                "countTrailingZeros",
                "trailing_zeros",
                "findLSB",
                "firstTrailingBit",
                "firstbitlow",
            ],
            "write `ctz(x)`, the number of zeros below the lowest one",
        )],
        doc: "The number of zeros below the lowest one; the width of the type for 0.",
        example: "ctz(8)",
        ..FUNCTION
    },
    Row {
        names: &["reverse_bits"],
        params: &[int("x")],
        typing: Typing::Numbers(NumberRule::Bits(BitsFn::Reverse)),
        exact: &["reverse_bits(x)"],
        external: &[(
            &["__brev", "__brevll", "brev", "reverseBits", "reversebits", "bitfieldReverse", "bit_reverse"],
            "",
        )],
        doc: "The bits in the opposite order.",
        example: "reverse_bits(u8(1))",
        ..FUNCTION
    },
];
