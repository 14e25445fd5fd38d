//! Atomic operations on one element of an array.

use super::row::{Effect, Gives, Known, Lowering, Param, Row};
use super::row::{FUNCTION, any};
use super::{ALONE, Rows, Section, Setup};
use crate::ir::AtomicOp;

pub static SECTION: Section = Section {
    title: "Atomics",
    about: "All take an array, an index and a value, and return the old value: see [Atomics](../guide/atomics.md).\n\
            In the examples `a` is an array of ints that starts with 12.",
    rows: Rows::Functions(ROWS),
    setup: Setup { params: "a: Array[i32]", args: "Tensor([12, 0], dtype=i32)", ..ALONE },
};

const PARAMS: &[Param] = &[any("a"), any("i"), any("value")];

const ATOMIC: Row = Row {
    known: Known::Bare,
    params: PARAMS,
    result: Gives::Other("the type of the element"),
    effect: Effect::Group,
    ..FUNCTION
};

const ROWS: &[Row] = &[
    Row {
        names: &["atomic_add"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Add, call)),
        external: &[
            (&["atomicAdd", "InterlockedAdd"], ""),
            (&["atomic_inc", "atomicInc", "atomic_increment"], "write `atomic_add(a, i, 1)`"),
        ],
        doc: "Adds to the element.",
        example: "atomic_add(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_sub"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Sub, call)),
        external: &[
            (&["atomicSub"], ""),
            (&["atomic_dec", "atomicDec", "atomic_decrement"], "write `atomic_sub(a, i, 1)`"),
        ],
        doc: "Subtracts from the element.",
        example: "atomic_sub(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_min"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Min, call)),
        external: &[(&["atomicMin", "InterlockedMin"], "")],
        doc: "Keeps the smaller one of the element and the value.",
        example: "atomic_min(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_max"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Max, call)),
        external: &[(&["atomicMax", "InterlockedMax"], "")],
        doc: "Keeps the larger one of the element and the value.",
        example: "atomic_max(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_and"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::And, call)),
        external: &[(&["atomicAnd", "InterlockedAnd"], "")],
        doc: "Keeps the bits that both the element and the value have.",
        example: "atomic_and(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_or"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Or, call)),
        external: &[(&["atomicOr", "InterlockedOr"], "")],
        doc: "Adds the bits of the value.",
        example: "atomic_or(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_xor"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Xor, call)),
        external: &[(&["atomicXor", "InterlockedXor"], "")],
        doc: "Flips the bits that the value has.",
        example: "atomic_xor(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_exchange"],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Exchange, call)),
        external: &[(&["atomicExch", "atomicExchange", "atomic_swap", "atomic_exch"], "")],
        doc: "Stores the value.",
        example: "atomic_exchange(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_compare_exchange"],
        params: &[any("a"), any("i"), any("expected"), any("new")],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::CompareExchange, call)),
        external: &[(
            &[
                "atomicCAS",
                "atomic_cas",
                "atomicCompSwap",
                "atomicCompareExchange",
                "atomic_compare_and_swap",
            ],
            "",
        )],
        doc: "Stores `new` where the bits of the element are those of `expected`.",
        example: "atomic_compare_exchange(a, 0, 12, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_load"],
        params: &[any("a"), any("i")],
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Load, call)),
        doc: "Only reads the element.",
        example: "atomic_load(a, 0)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_store"],
        params: &[any("a").changed(), any("i"), any("value")],
        result: Gives::Nothing,
        lowering: Lowering::Tree(|ctx, call| ctx.atomic_call(AtomicOp::Store, call)),
        doc: "Stores the value, and returns nothing.",
        example: "atomic_store(a, 0, 5)",
        ..ATOMIC
    },
];
