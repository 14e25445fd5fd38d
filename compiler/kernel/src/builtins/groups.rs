//! What the invocations of a workgroup do together: the names that kernels know for it.

/// A function that looks beyond its own invocation. Its arguments are read from the tree, because some
/// of them name a place and not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupFunction {
    /// `shared(f32, 16, 16)`: an array that the workgroup has in common.
    Shared,
    /// Waits for every invocation of the workgroup.
    Barrier,
    /// Promises that a value is the same in every invocation of the workgroup.
    Uniform,
    Atomic(AtomicOp),
}

/// What is done to one element at once, whoever else is at it. All but `Store` give what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Stores only where the element is what was expected, bit for bit.
    CompareExchange,
    Load,
    Store,
}

pub(super) const FUNCTIONS: &[(&str, GroupFunction)] = &[
    ("shared", GroupFunction::Shared),
    ("barrier", GroupFunction::Barrier),
    ("uniform", GroupFunction::Uniform),
    ("atomic_add", GroupFunction::Atomic(AtomicOp::Add)),
    ("atomic_sub", GroupFunction::Atomic(AtomicOp::Sub)),
    ("atomic_min", GroupFunction::Atomic(AtomicOp::Min)),
    ("atomic_max", GroupFunction::Atomic(AtomicOp::Max)),
    ("atomic_and", GroupFunction::Atomic(AtomicOp::And)),
    ("atomic_or", GroupFunction::Atomic(AtomicOp::Or)),
    ("atomic_xor", GroupFunction::Atomic(AtomicOp::Xor)),
    ("atomic_exchange", GroupFunction::Atomic(AtomicOp::Exchange)),
    ("atomic_compare_exchange", GroupFunction::Atomic(AtomicOp::CompareExchange)),
    ("atomic_load", GroupFunction::Atomic(AtomicOp::Load)),
    ("atomic_store", GroupFunction::Atomic(AtomicOp::Store)),
];

pub(super) fn lookup(name: &str) -> Option<GroupFunction> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

pub(super) fn name(function: GroupFunction) -> &'static str {
    FUNCTIONS.iter().find(|(_, known)| *known == function).map_or("?", |(name, _)| name)
}
