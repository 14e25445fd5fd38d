//! Findings: mistakes that an instrumented kernel made, and that go unnoticed otherwise.
//!
//! A pipeline is loaded with an [`Instrument`], and [`crate::Device::findings`] takes the findings so far.
//! Instrumentation does not change results. Findings are data, and the caller writes the messages.

use crate::{Access, SourceLine, Ticket};

/// How a pipeline is instrumented. Devices other than the CPU device accept only [`Instrument::None`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Instrument {
    #[default]
    None,
    Checked(Checks),
    /// Counts the cost of each line: [`crate::profile`].
    Profile,
}

/// The mistakes to look for, and the order in which the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checks {
    kinds: u16,
    pub schedule: Schedule,
}

/// One kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    Bounds,
    Division,
    Shift,
    Conversion,
    Barrier,
    Uniform,
    /// Reads of uninitialised memory, shared by a workgroup or of the device.
    SharedUninitialised,
    DeviceUninitialised,
    SharedRace,
    DeviceRace,
    Overflow,
    Nan,
}

/// The order of workgroups, and of the invocations of each between its barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    #[default]
    InOrder,
    /// A random order that depends only on the seed.
    Seed(u64),
}

impl Check {
    pub const ALL: [Check; 12] = [
        Check::Bounds,
        Check::Division,
        Check::Shift,
        Check::Conversion,
        Check::Barrier,
        Check::Uniform,
        Check::SharedUninitialised,
        Check::DeviceUninitialised,
        Check::SharedRace,
        Check::DeviceRace,
        Check::Overflow,
        Check::Nan,
    ];

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Check::Bounds => "bounds",
            Check::Division => "division",
            Check::Shift => "shift",
            Check::Conversion => "conversion",
            Check::Barrier => "barrier",
            Check::Uniform => "uniform",
            Check::SharedUninitialised => "shared-uninitialised",
            Check::DeviceUninitialised => "device-uninitialised",
            Check::SharedRace => "shared-race",
            Check::DeviceRace => "device-race",
            Check::Overflow => "overflow",
            Check::Nan => "nan",
        }
    }

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Checks {
    /// No checks.
    pub const NONE: Checks = Checks { kinds: 0, schedule: Schedule::InOrder };

    pub fn all() -> Checks {
        Check::ALL.into_iter().fold(Checks::NONE, Checks::with)
    }

    /// All checks for certain mistakes: not overflow and NaN, which may be intended.
    pub fn usual() -> Checks {
        let on_request = |check: &Check| matches!(check, Check::Overflow | Check::Nan);
        Check::ALL.into_iter().filter(|check| !on_request(check)).fold(Checks::NONE, Checks::with)
    }

    /// A check by its name, or a set of them: `race`, `uninitialised`, `usual` and `all`.
    pub fn named(name: &str) -> Option<Checks> {
        let both = |a, b| Some(Checks::NONE.with(a).with(b));
        match name {
            "usual" => Some(Checks::usual()),
            "all" => Some(Checks::all()),
            "race" => both(Check::SharedRace, Check::DeviceRace),
            "uninitialised" => both(Check::SharedUninitialised, Check::DeviceUninitialised),
            name => {
                let check = Check::ALL.into_iter().find(|check| check.name() == name)?;
                Some(Checks::NONE.with(check))
            }
        }
    }

    pub fn with(self, check: Check) -> Checks {
        Checks { kinds: self.kinds | check.bit(), ..self }
    }

    pub fn without(self, check: Check) -> Checks {
        Checks { kinds: self.kinds & !check.bit(), ..self }
    }

    /// The union with other checks, in the order of these.
    pub fn and(self, others: Checks) -> Checks {
        Checks { kinds: self.kinds | others.kinds, ..self }
    }

    /// The same checks with a random order of invocations.
    pub fn seeded(self, seed: u64) -> Checks {
        Checks { schedule: Schedule::Seed(seed), ..self }
    }

    pub fn has(self, check: Check) -> bool {
        self.kinds & check.bit() != 0
    }
}

/// A mistake that a kernel made at run time, with its count at this line.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub line: Option<SourceLine>,
    /// The first invocation that made it.
    pub invocation: Invocation,
    pub count: u64,
    pub launch: Launch,
}

/// The dispatch in which a mistake happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    pub submission: Ticket,
    /// Index among the dispatches of its submission.
    pub dispatch: usize,
    pub groups: [u32; 3],
    pub local_size: [u32; 3],
}

/// The kind of a mistake, with the values of its first occurrence.
#[derive(Clone, Debug, PartialEq)]
pub enum FindingKind {
    /// `index` and `shape` have a number for each axis.
    OutOfBounds {
        array: Option<ArrayName>,
        index: Vec<Int>,
        shape: Vec<u64>,
        access: Access,
        beyond: Beyond,
    },
    /// `place` and `size` have a number for each axis of the image, x first.
    OutsideImage {
        image: Option<ArrayName>,
        place: Vec<Int>,
        size: Vec<u64>,
        access: Access,
    },
    DivisionByZero {
        dividend: Number,
    },
    /// The amount is taken modulo the width.
    ShiftAmount {
        amount: Int,
        width: u32,
    },
    /// A float outside the range of an int with this many bits. `n_digits` is the precision of the float's
    /// type in bits.
    Conversion {
        value: f64,
        n_digits: u32,
        bits: u32,
        signed: bool,
    },
    /// A value that should be uniform in the workgroup: its components in this invocation and in another one.
    NotUniform {
        values: [Vec<Number>; 2],
        other: Invocation,
    },
    /// Not every invocation of the workgroup reaches this barrier. `waits` is where another one waits; `None`
    /// if it has ended.
    DivergentBarrier {
        other: Invocation,
        waits: Option<SourceLine>,
    },
    /// A read of uninitialised memory, shared by the workgroup or of the device.
    Uninitialised(Element),
    /// Two invocations access an element, at least one of them writes, and nothing orders them.
    Race {
        element: Element,
        access: Access,
        before: Before,
    },
    /// An int result outside the range of its type.
    Overflow {
        op: Arithmetic,
        a: Int,
        b: Int,
        bits: u32,
    },
    /// A NaN or an infinity that was created from finite operands.
    NonFinite {
        value: f64,
        of: Vec<Number>,
    },
}

/// What an access out of range does without checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It reads 0 and writes nothing.
    Nothing,
    /// Out of range in one axis only, it accesses an element of another row.
    Row,
    /// It accesses the last element.
    End,
}

/// An element of an array, or a texel of an image, in memory that invocations share.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    pub array: Option<ArrayName>,
    /// The path from the array to it; empty if it is not in an array. For an image, x comes first.
    pub path: Vec<Part>,
    pub memory: SharedMemory,
}

/// A step into a composite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Along each axis.
    Index(Vec<u64>),
    Member(String),
}

/// The name of an array or an image in the module, or else its binding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArrayName {
    Name(String),
    /// A member or an inner array of the elements of an array: `items[..].values`.
    Part(String),
    /// One of several variables with that name, counted from the first.
    Namesake {
        name: String,
        nth: u32,
    },
    Binding {
        set: u32,
        binding: u32,
    },
}

/// Memory that invocations share: of a workgroup, or of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedMemory {
    Workgroup,
    Buffer,
    Image,
}

/// The earlier access, in the order of this run.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    pub access: Access,
    /// The array through which it went, if that has another name.
    pub alias: Option<ArrayName>,
    pub line: Option<SourceLine>,
    pub invocation: Invocation,
    /// Whether one of the two is atomic.
    pub beside_atomic: bool,
    /// Where the paths to the later access and to this one diverge: two lines of one function. They are the
    /// lines of the accesses, or of calls that lead to them.
    pub divergence: Option<[SourceLine; 2]>,
    /// The calls that lead to that function, outermost first.
    pub callers: Vec<SourceLine>,
    /// Whether both can happen without a barrier between in one iteration of the innermost loop around both.
    pub in_one_round: bool,
    /// Whether they can in different iterations of it.
    pub in_rounds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Sum,
    Difference,
    Product,
    /// Subtraction from 0.
    Negation,
    /// Absolute value, as a subtraction from 0.
    Magnitude,
    Quotient,
}

/// An int with the sign of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    Signed(i64),
    Unsigned(u64),
}

/// An int or a float of any width, or a bool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(Int),
    Float(f64),
}

/// One invocation of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Invocation {
    pub group: [u32; 3],
    pub local: [u32; 3],
    pub global: [u32; 3],
}

impl Finding {
    /// The array or image of the mistake.
    pub fn array(&self) -> Option<&ArrayName> {
        match &self.kind {
            FindingKind::OutOfBounds { array, .. } | FindingKind::OutsideImage { image: array, .. } => {
                array.as_ref()
            }
            FindingKind::Uninitialised(element) | FindingKind::Race { element, .. } => element.array.as_ref(),
            _ => None,
        }
    }
}

impl Invocation {
    pub fn new(group: [u32; 3], local: [u32; 3], local_size: [u32; 3]) -> Invocation {
        let along = |axis: usize| group[axis].wrapping_mul(local_size[axis]).wrapping_add(local[axis]);
        Invocation { group, local, global: std::array::from_fn(along) }
    }
}

impl std::fmt::Display for Int {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Int::Signed(value) => value.fmt(f),
            Int::Unsigned(value) => value.fmt(f),
        }
    }
}
