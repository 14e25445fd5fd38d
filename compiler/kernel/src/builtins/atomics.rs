//! Atomic operations on one element of an array.

use super::row::{Effect, FUNCTION, Gives, Known, Param, Row, any};
use super::section::{ALONE, Rows, Section, Setup};
use super::typing::{TreeRule, Typing};
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
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Add)),
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
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Sub)),
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
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Min)),
        external: &[(&["atomicMin", "InterlockedMin"], "")],
        doc: "Keeps the smaller one of the element and the value.",
        example: "atomic_min(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_max"],
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Max)),
        external: &[(&["atomicMax", "InterlockedMax"], "")],
        doc: "Keeps the larger one of the element and the value.",
        example: "atomic_max(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_and"],
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::And)),
        external: &[(&["atomicAnd", "InterlockedAnd"], "")],
        doc: "Keeps the bits that both the element and the value have.",
        example: "atomic_and(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_or"],
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Or)),
        external: &[(&["atomicOr", "InterlockedOr"], "")],
        doc: "Adds the bits of the value.",
        example: "atomic_or(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_xor"],
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Xor)),
        external: &[(&["atomicXor", "InterlockedXor"], "")],
        doc: "Flips the bits that the value has.",
        example: "atomic_xor(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_exchange"],
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Exchange)),
        external: &[(&["atomicExch", "atomicExchange", "atomic_swap", "atomic_exch"], "")],
        doc: "Stores the value.",
        example: "atomic_exchange(a, 0, 5)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_compare_exchange"],
        params: &[any("a"), any("i"), any("expected"), any("new")],
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::CompareExchange)),
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
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Load)),
        doc: "Only reads the element.",
        example: "atomic_load(a, 0)",
        ..ATOMIC
    },
    Row {
        names: &["atomic_store"],
        params: &[any("a").changed(), any("i"), any("value")],
        result: Gives::Nothing,
        typing: Typing::Tree(TreeRule::Atomic(AtomicOp::Store)),
        doc: "Stores the value, and returns nothing.",
        example: "atomic_store(a, 0, 5)",
        ..ATOMIC
    },
];
