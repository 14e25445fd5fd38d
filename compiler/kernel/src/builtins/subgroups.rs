//! Operations of the active invocations of a subgroup.

use super::row::{Effect, Gives, Known, Lowering, Row};
use super::row::{FUNCTION, any};
use super::{ALONE, Rows, Section, Setup};
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
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Add, Spread::Reduce, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Mul, Spread::Reduce, call)),
        doc: "The product of all lanes.",
        example: "subgroup_mul(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_min"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Min, Spread::Reduce, call)),
        doc: "The smallest value of all lanes.",
        example: "subgroup_min(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_max"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Max, Spread::Reduce, call)),
        doc: "The largest value of all lanes.",
        example: "subgroup_max(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_and"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::And, Spread::Reduce, call)),
        doc: "The bitwise and of all lanes.",
        example: "subgroup_and(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_or"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Or, Spread::Reduce, call)),
        doc: "The bitwise or of all lanes.",
        example: "subgroup_or(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_xor"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Xor, Spread::Reduce, call)),
        doc: "The bitwise exclusive or of all lanes.",
        example: "subgroup_xor(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_add"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Add, Spread::Inclusive, call)),
        doc: "The sum of the lanes up to this one.",
        example: "subgroup_inclusive_add(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_mul"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Mul, Spread::Inclusive, call)),
        doc: "The product of the lanes up to this one.",
        example: "subgroup_inclusive_mul(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_min"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Min, Spread::Inclusive, call)),
        doc: "The smallest value of the lanes up to this one.",
        example: "subgroup_inclusive_min(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_max"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Max, Spread::Inclusive, call)),
        doc: "The largest value of the lanes up to this one.",
        example: "subgroup_inclusive_max(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_and"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::And, Spread::Inclusive, call)),
        doc: "The bitwise and of the lanes up to this one.",
        example: "subgroup_inclusive_and(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_or"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Or, Spread::Inclusive, call)),
        doc: "The bitwise or of the lanes up to this one.",
        example: "subgroup_inclusive_or(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_inclusive_xor"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Xor, Spread::Inclusive, call)),
        doc: "The bitwise exclusive or of the lanes up to this one.",
        example: "subgroup_inclusive_xor(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_add"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Add, Spread::Exclusive, call)),
        doc: "The sum of the lanes before this one.",
        example: "subgroup_exclusive_add(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_mul"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Mul, Spread::Exclusive, call)),
        doc: "The product of the lanes before this one.",
        example: "subgroup_exclusive_mul(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_min"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Min, Spread::Exclusive, call)),
        doc: "The smallest value of the lanes before this one.",
        example: "subgroup_exclusive_min(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_max"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Max, Spread::Exclusive, call)),
        doc: "The largest value of the lanes before this one.",
        example: "subgroup_exclusive_max(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_and"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::And, Spread::Exclusive, call)),
        doc: "The bitwise and of the lanes before this one.",
        example: "subgroup_exclusive_and(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_or"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Or, Spread::Exclusive, call)),
        doc: "The bitwise or of the lanes before this one.",
        example: "subgroup_exclusive_or(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_exclusive_xor"],
        lowering: Lowering::Value(|ctx, call| ctx.subgroup_combine(Combine::Xor, Spread::Exclusive, call)),
        doc: "The bitwise exclusive or of the lanes before this one.",
        example: "subgroup_exclusive_xor(v)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_broadcast"],
        params: &[any("value"), any("lane")],
        lowering: Lowering::Value(|ctx, call| ctx.shuffle(SubgroupOp::Shuffle, call)),
        doc: "The value of a lane, which is the same for all lanes.",
        example: "subgroup_broadcast(v, 0)",
        ..SUBGROUP
    },
    Row {
        names: &["subgroup_shuffle"],
        params: &[any("value"), any("lane")],
        lowering: Lowering::Value(|ctx, call| ctx.shuffle(SubgroupOp::Shuffle, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.shuffle(SubgroupOp::ShuffleXor, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.shuffle(SubgroupOp::ShuffleUp, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.shuffle(SubgroupOp::ShuffleDown, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.vote(SubgroupOp::Ballot, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.vote(SubgroupOp::Any, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.vote(SubgroupOp::All, call)),
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
        lowering: Lowering::Value(|ctx, call| ctx.elect(call)),
        doc: "True in one lane, false in all others.",
        example: "subgroup_elect()",
        ..SUBGROUP
    },
];
