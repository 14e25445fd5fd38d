//! Operations of the active invocations of a subgroup.

use super::row::{Effect, FUNCTION, Gives, Known, Row, any};
use super::section::{ALONE, Rows, Section, Setup};
use super::typing::{Typing, ValueRule};
use crate::ir::{Combine, Spread, SubgroupOp};

pub static SECTION: Section = Section {
    title: "Subgroups",
    about: "See [Subgroups](../guide/subgroups.md).\n\
            In the examples the lanes of one subgroup have `v` 1, 2, 3 and 4, and lane 2 prints its result.",
    rows: Rows::Functions(ROWS),
    setup: Setup { lines: &["v = local_id.x + 1"], local_size: 4, printing: "subgroup_lane == 2", ..ALONE },
};

const SUBGROUP: Row = Row { known: Known::Bare, params: &[any("value")], effect: Effect::Group, ..FUNCTION };

const ROWS: &[Row] = &[
    Row {
        names: &["subgroup_add"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Add, Spread::Reduce)),
        external: &[
            (
                &[
                    "subgroup_sum",
                    "subgroupAdd",
                    "subgroup_reduce_add",
                    "warp_sum",
                    "warp_reduce",
                    "simd_sum",
                ],
                "",
            ),
            (&["subgroup_reduce"], "write `subgroup_add(value)`, `subgroup_max(value)` or the like"),
        ],
        doc: "The sum of all lanes.",
        example: "subgroup_add(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_mul"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Mul, Spread::Reduce)),
        doc: "The product of all lanes.",
        example: "subgroup_mul(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_min"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Min, Spread::Reduce)),
        doc: "The smallest value of all lanes.",
        example: "subgroup_min(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_max"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Max, Spread::Reduce)),
        doc: "The largest value of all lanes.",
        example: "subgroup_max(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_and"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::And, Spread::Reduce)),
        doc: "The bitwise and of all lanes.",
        example: "subgroup_and(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_or"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Or, Spread::Reduce)),
        doc: "The bitwise or of all lanes.",
        example: "subgroup_or(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_xor"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Xor, Spread::Reduce)),
        doc: "The bitwise exclusive or of all lanes.",
        example: "subgroup_xor(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_add"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Add, Spread::Inclusive)),
        doc: "The sum of the lanes up to this one.",
        example: "subgroup_inclusive_add(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_mul"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Mul, Spread::Inclusive)),
        doc: "The product of the lanes up to this one.",
        example: "subgroup_inclusive_mul(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_min"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Min, Spread::Inclusive)),
        doc: "The smallest value of the lanes up to this one.",
        example: "subgroup_inclusive_min(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_max"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Max, Spread::Inclusive)),
        doc: "The largest value of the lanes up to this one.",
        example: "subgroup_inclusive_max(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_and"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::And, Spread::Inclusive)),
        doc: "The bitwise and of the lanes up to this one.",
        example: "subgroup_inclusive_and(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_or"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Or, Spread::Inclusive)),
        doc: "The bitwise or of the lanes up to this one.",
        example: "subgroup_inclusive_or(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_xor"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Xor, Spread::Inclusive)),
        doc: "The bitwise exclusive or of the lanes up to this one.",
        example: "subgroup_inclusive_xor(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_add"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Add, Spread::Exclusive)),
        doc: "The sum of the lanes before this one.",
        example: "subgroup_exclusive_add(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_mul"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Mul, Spread::Exclusive)),
        doc: "The product of the lanes before this one.",
        example: "subgroup_exclusive_mul(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_min"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Min, Spread::Exclusive)),
        doc: "The smallest value of the lanes before this one.",
        example: "subgroup_exclusive_min(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_max"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Max, Spread::Exclusive)),
        doc: "The largest value of the lanes before this one.",
        example: "subgroup_exclusive_max(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_and"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::And, Spread::Exclusive)),
        doc: "The bitwise and of the lanes before this one.",
        example: "subgroup_exclusive_and(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_or"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Or, Spread::Exclusive)),
        doc: "The bitwise or of the lanes before this one.",
        example: "subgroup_exclusive_or(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_xor"],
        typing: Typing::Value(ValueRule::SubgroupCombine(Combine::Xor, Spread::Exclusive)),
        doc: "The bitwise exclusive or of the lanes before this one.",
        example: "subgroup_exclusive_xor(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_broadcast"],
        params: &[any("value"), any("lane")],
        typing: Typing::Value(ValueRule::Shuffle(SubgroupOp::Shuffle)),
        doc: "The value of a lane, which is the same for all lanes.",
        example: "subgroup_broadcast(v, 0)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_shuffle"],
        params: &[any("value"), any("lane")],
        typing: Typing::Value(ValueRule::Shuffle(SubgroupOp::Shuffle)),
        external: &[
            (&["warp_shuffle", "shfl", "shfl_sync", "simd_shuffle", "subgroupShuffle"], ""),
            (&["__shfl_sync", "__shfl"], "write `subgroup_shuffle(value, lane)`, without the mask"),
        ],
        doc: "The value of a lane.",
        example: "subgroup_shuffle(v, 3)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_shuffle_xor"],
        params: &[any("value"), any("mask")],
        typing: Typing::Value(ValueRule::Shuffle(SubgroupOp::ShuffleXor)),
        external: &[(
            &["__shfl_xor_sync", "__shfl_xor", "shfl_xor", "shfl_xor_sync", "subgroupShuffleXor"],
            "write `subgroup_shuffle_xor(value, bits)`, without the mask",
        )],
        doc: "The value of the lane whose number differs in the bits of the mask.",
        example: "subgroup_shuffle_xor(v, 1)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_shuffle_up"],
        params: &[any("value"), any("distance")],
        typing: Typing::Value(ValueRule::Shuffle(SubgroupOp::ShuffleUp)),
        external: &[(
            &["__shfl_up_sync", "__shfl_up", "shfl_up", "shfl_up_sync", "subgroupShuffleUp"],
            "write `subgroup_shuffle_up(value, n)`, without the mask",
        )],
        doc: "The value of a lower lane.",
        example: "subgroup_shuffle_up(v, 1)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_shuffle_down"],
        params: &[any("value"), any("distance")],
        typing: Typing::Value(ValueRule::Shuffle(SubgroupOp::ShuffleDown)),
        external: &[(
            &["__shfl_down_sync", "__shfl_down", "shfl_down", "shfl_down_sync", "subgroupShuffleDown"],
            "write `subgroup_shuffle_down(value, n)`, without the mask",
        )],
        doc: "The value of a higher lane.",
        example: "subgroup_shuffle_down(v, 1)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_ballot"],
        params: &[any("condition")],
        result: Gives::Other("a `uvec4`"),
        typing: Typing::Value(ValueRule::Vote(SubgroupOp::Ballot)),
        external: &[(
            &["__ballot_sync", "__ballot", "ballot_sync", "subgroupBallot"],
            "write `subgroup_ballot(condition)`, without the mask",
        )],
        doc: "A bit for each lane whose condition holds.",
        example: "subgroup_ballot(v > 2)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_any"],
        params: &[any("condition")],
        result: Gives::Bool,
        typing: Typing::Value(ValueRule::Vote(SubgroupOp::Any)),
        external: &[(
            &["__any_sync", "__any", "any_sync", "subgroupAny"],
            "write `subgroup_any(condition)`, without the mask",
        )],
        doc: "Whether the condition holds in a lane.",
        example: "subgroup_any(v > 2)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_all"],
        params: &[any("condition")],
        result: Gives::Bool,
        typing: Typing::Value(ValueRule::Vote(SubgroupOp::All)),
        external: &[(
            &["__all_sync", "__all", "all_sync", "subgroupAll"],
            "write `subgroup_all(condition)`, without the mask",
        )],
        doc: "Whether the condition holds in all lanes.",
        example: "subgroup_all(v > 2)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_elect"],
        params: &[],
        result: Gives::Bool,
        typing: Typing::Value(ValueRule::Elect),
        doc: "True in one lane, false in all others.",
        example: "subgroup_elect()",
        ..SUBGROUP
    },
];
