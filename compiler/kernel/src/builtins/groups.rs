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
    Subgroup(SubgroupOp),
    Coop(CoopFunction),
}

impl GroupFunction {
    /// It needs a workgroup, which only compute kernels have.
    pub fn is_of_workgroup(self) -> bool {
        matches!(self, GroupFunction::Shared | GroupFunction::Barrier | GroupFunction::Coop(_))
    }

    /// The argument that it changes, by its place.
    pub fn changes(self) -> Option<usize> {
        match self {
            GroupFunction::Atomic(AtomicOp::Load) => None,
            GroupFunction::Atomic(_)
            | GroupFunction::Coop(CoopFunction::Load | CoopFunction::Fill | CoopFunction::MultiplyAdd) => {
                Some(0)
            }
            GroupFunction::Coop(CoopFunction::Store) => Some(1),
            _ => None,
        }
    }
}

/// Matrices that a subgroup works on as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoopFunction {
    /// `coop_matrix(f16, 16, 16, "a")`: a matrix of zeros.
    Matrix,
    /// `coop_load(m, array, start, stride)`: row by row, `stride` elements apart; column by column with
    /// `column_major=True`.
    Load,
    Fill,
    /// `coop_multiply_add(c, a, b)`: adds the product to `c`.
    MultiplyAdd,
    Store,
    Instruction(CoopInstruction),
}

/// What a device does with a matrix that it holds. Our own functions call these, under names that no script
/// can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoopInstruction {
    /// `load(m, array, start, stride)`: a matrix that is known to lie inside, row by row.
    Load,
    /// The same column by column.
    LoadColumns,
    Store,
    StoreColumns,
    /// `like(m)`: another matrix of the same type, of zeros.
    Like,
    /// `take(m, other)`: all of another one.
    Take,
    /// `n_components(m)`: what this invocation holds of it.
    Length,
    /// `component(m, i)`
    Component,
    /// `put(m, i, value)`
    Put,
}

impl CoopInstruction {
    pub fn n_args(self) -> usize {
        match self {
            CoopInstruction::Like | CoopInstruction::Length => 1,
            CoopInstruction::Take | CoopInstruction::Component => 2,
            CoopInstruction::Put => 3,
            CoopInstruction::Load
            | CoopInstruction::LoadColumns
            | CoopInstruction::Store
            | CoopInstruction::StoreColumns => 4,
        }
    }
}

/// What the active invocations of a subgroup do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubgroupOp {
    Combine(Combine, Spread),
    /// The value of the first lane, which is there. Only our own functions ask for it.
    FromFirst,
    /// The value of any lane; the own one where that lane is not there.
    Shuffle,
    ShuffleXor,
    /// The value of a lower lane.
    ShuffleUp,
    /// The value of a higher lane.
    ShuffleDown,
    /// A bit for each lane whose condition holds.
    Ballot,
    Any,
    All,
    /// True in one lane.
    Elect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Whose values come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spread {
    /// Those of all.
    Reduce,
    /// Those of lower lanes and the own one.
    Inclusive,
    /// Those of lower lanes.
    Exclusive,
}

const fn combine(combine: Combine, spread: Spread) -> GroupFunction {
    GroupFunction::Subgroup(SubgroupOp::Combine(combine, spread))
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
    ("coop_matrix", GroupFunction::Coop(CoopFunction::Matrix)),
    ("coop_load", GroupFunction::Coop(CoopFunction::Load)),
    ("coop_fill", GroupFunction::Coop(CoopFunction::Fill)),
    ("coop_multiply_add", GroupFunction::Coop(CoopFunction::MultiplyAdd)),
    ("coop_store", GroupFunction::Coop(CoopFunction::Store)),
    ("subgroup_add", combine(Combine::Add, Spread::Reduce)),
    ("subgroup_mul", combine(Combine::Mul, Spread::Reduce)),
    ("subgroup_min", combine(Combine::Min, Spread::Reduce)),
    ("subgroup_max", combine(Combine::Max, Spread::Reduce)),
    ("subgroup_and", combine(Combine::And, Spread::Reduce)),
    ("subgroup_or", combine(Combine::Or, Spread::Reduce)),
    ("subgroup_xor", combine(Combine::Xor, Spread::Reduce)),
    ("subgroup_inclusive_add", combine(Combine::Add, Spread::Inclusive)),
    ("subgroup_inclusive_mul", combine(Combine::Mul, Spread::Inclusive)),
    ("subgroup_inclusive_min", combine(Combine::Min, Spread::Inclusive)),
    ("subgroup_inclusive_max", combine(Combine::Max, Spread::Inclusive)),
    ("subgroup_inclusive_and", combine(Combine::And, Spread::Inclusive)),
    ("subgroup_inclusive_or", combine(Combine::Or, Spread::Inclusive)),
    ("subgroup_inclusive_xor", combine(Combine::Xor, Spread::Inclusive)),
    ("subgroup_exclusive_add", combine(Combine::Add, Spread::Exclusive)),
    ("subgroup_exclusive_mul", combine(Combine::Mul, Spread::Exclusive)),
    ("subgroup_exclusive_min", combine(Combine::Min, Spread::Exclusive)),
    ("subgroup_exclusive_max", combine(Combine::Max, Spread::Exclusive)),
    ("subgroup_exclusive_and", combine(Combine::And, Spread::Exclusive)),
    ("subgroup_exclusive_or", combine(Combine::Or, Spread::Exclusive)),
    ("subgroup_exclusive_xor", combine(Combine::Xor, Spread::Exclusive)),
    ("subgroup_broadcast", GroupFunction::Subgroup(SubgroupOp::Shuffle)),
    ("subgroup_shuffle", GroupFunction::Subgroup(SubgroupOp::Shuffle)),
    ("subgroup_shuffle_xor", GroupFunction::Subgroup(SubgroupOp::ShuffleXor)),
    ("subgroup_shuffle_up", GroupFunction::Subgroup(SubgroupOp::ShuffleUp)),
    ("subgroup_shuffle_down", GroupFunction::Subgroup(SubgroupOp::ShuffleDown)),
    ("subgroup_ballot", GroupFunction::Subgroup(SubgroupOp::Ballot)),
    ("subgroup_any", GroupFunction::Subgroup(SubgroupOp::Any)),
    ("subgroup_all", GroupFunction::Subgroup(SubgroupOp::All)),
    ("subgroup_elect", GroupFunction::Subgroup(SubgroupOp::Elect)),
];

/// Dotted, so that they are no names of a script's.
const INSTRUCTIONS: &[(&str, CoopInstruction)] = &[
    ("coop.load", CoopInstruction::Load),
    ("coop.load_columns", CoopInstruction::LoadColumns),
    ("coop.store", CoopInstruction::Store),
    ("coop.store_columns", CoopInstruction::StoreColumns),
    ("coop.like", CoopInstruction::Like),
    ("coop.take", CoopInstruction::Take),
    ("coop.n_components", CoopInstruction::Length),
    ("coop.component", CoopInstruction::Component),
    ("coop.put", CoopInstruction::Put),
];

/// The full name of an instruction that our own functions call by its last part.
pub(crate) fn coop_instruction(name: &str) -> Option<&'static str> {
    INSTRUCTIONS.iter().map(|(full, _)| *full).find(|full| full.strip_prefix("coop.") == Some(name))
}

pub(super) fn lookup(name: &str) -> Option<GroupFunction> {
    let instruction = || INSTRUCTIONS.iter().find(|(known, _)| *known == name);
    let plain = FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function);
    plain.or_else(|| instruction().map(|(_, found)| GroupFunction::Coop(CoopFunction::Instruction(*found))))
}

pub(super) fn name(function: GroupFunction) -> &'static str {
    FUNCTIONS.iter().find(|(_, known)| *known == function).map_or("?", |(name, _)| name)
}
