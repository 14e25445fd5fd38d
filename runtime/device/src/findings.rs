//! What a device tells of a kernel that it was asked to watch: mistakes that go unseen otherwise.
//!
//! A pipeline is loaded with an [`Instrument`], and [`crate::Device::findings`] gives what was found since it
//! was asked last. Results are those of the kernel without it. Places and numbers are data: whoever asks
//! puts them into words.

use crate::{Access, SourceLine};

/// What is watched while a pipeline runs. Devices other than the built-in one take [`Instrument::None`] alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Instrument {
    #[default]
    None,
    Checked(Checks),
    /// What it costs, line by line: [`crate::profile`].
    Profile,
}

/// Which mistakes are looked for, and in which order the kernel runs meanwhile.
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
    /// Reads of what nobody has written, in memory of a workgroup and in that of the device.
    SharedUninitialised,
    DeviceUninitialised,
    SharedRace,
    DeviceRace,
    Overflow,
    Nan,
}

/// The order in which workgroups run, and the invocations of each between its barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    #[default]
    InOrder,
    /// A random one, the same for the same seed.
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

    /// As a user names it.
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
    /// None of them.
    pub const NONE: Checks = Checks { kinds: 0, schedule: Schedule::InOrder };

    pub fn all() -> Checks {
        Check::ALL.into_iter().fold(Checks::NONE, Checks::with)
    }

    /// All that are mistakes wherever they are found: ints may wrap on purpose, and floats be no numbers.
    pub fn usual() -> Checks {
        let on_request = |check: &Check| matches!(check, Check::Overflow | Check::Nan);
        Check::ALL.into_iter().filter(|check| !on_request(check)).fold(Checks::NONE, Checks::with)
    }

    /// A check by its name, or several by theirs: `race`, `uninitialised`, `usual` and `all`.
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

    /// These and others, in the order of these.
    pub fn and(self, others: Checks) -> Checks {
        Checks { kinds: self.kinds | others.kinds, ..self }
    }

    /// The same checks in a random order of invocations.
    pub fn seeded(self, seed: u64) -> Checks {
        Checks { schedule: Schedule::Seed(seed), ..self }
    }

    pub fn has(self, check: Check) -> bool {
        self.kinds & check.bit() != 0
    }
}

/// A mistake that a kernel made while it ran, as often as it made it at this line.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: FindingKind,
    pub line: Option<SourceLine>,
    /// The first that made it.
    pub invocation: Invocation,
    pub count: u64,
    pub launch: Launch,
}

/// The dispatch that made a mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// Counted from 0 among those of its submission.
    pub dispatch: usize,
    pub groups: [u32; 3],
    pub local_size: [u32; 3],
}

/// What went wrong, with the values of the first time.
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
    /// A float that an int of this many bits cannot hold, and how many binary digits the float's type has.
    Conversion {
        value: f64,
        n_digits: u32,
        bits: u32,
        signed: bool,
    },
    /// A value that was said to be the same in the whole workgroup: its components in this invocation and in
    /// another one.
    NotUniform {
        values: [Vec<Number>; 2],
        other: Invocation,
    },
    /// Not every invocation of the workgroup comes to this barrier. `waits` is where another one does; `None`
    /// where it has ended.
    DivergentBarrier {
        other: Invocation,
        waits: Option<SourceLine>,
    },
    /// Shared memory is read that nobody of the workgroup has written, or memory of the device that nobody has.
    Uninitialised(Element),
    /// Two invocations touch an element, at least one of them writes, and nothing says which comes first.
    Race {
        element: Element,
        access: Access,
        before: Before,
    },
    /// An int result that its type cannot hold.
    Overflow {
        op: Arithmetic,
        a: Int,
        b: Int,
        bits: u32,
    },
    /// A NaN or an infinity, made of finite numbers.
    NonFinite {
        value: f64,
        of: Vec<Number>,
    },
}

/// What an access out of range meets where nothing is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// It reads 0 and writes nothing.
    Nothing,
    /// Out of range in one axis alone, an element of another row.
    Row,
    /// The element at the end.
    End,
}

/// An element of an array, or a texel of an image, that invocations share.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    pub array: Option<ArrayName>,
    /// The way to it from the array; empty for what is no array. Of an image x comes first.
    pub path: Vec<Part>,
    pub memory: SharedMemory,
}

/// A step into what is made of parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Along each axis.
    Index(Vec<u64>),
    Member(String),
}

/// What a module calls an array or an image; where it does not say, what it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ArrayName {
    Name(String),
    /// One more of that name, counted from the first.
    Namesake {
        name: String,
        nth: u32,
    },
    Binding {
        set: u32,
        binding: u32,
    },
}

/// Memory that invocations share: of a workgroup, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedMemory {
    Workgroup,
    Buffer,
    Image,
}

/// The access that came first, in the order of this run.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    pub access: Access,
    /// The array that it went through, where that has another name.
    pub alias: Option<ArrayName>,
    pub line: Option<SourceLine>,
    pub invocation: Invocation,
    /// Whether one of the two is atomic.
    pub beside_atomic: bool,
    /// Where the ways to the later access and to this one part: lines of one function, which are their own or those of
    /// calls that lead there.
    pub divergence: Option<[SourceLine; 2]>,
    /// The calls by which control comes to that function, the outermost first.
    pub callers: Vec<SourceLine>,
    /// Whether the two can meet without a barrier in one round of the innermost loop that both are in.
    pub in_one_round: bool,
    /// Whether they can in different rounds of it.
    pub in_rounds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Sum,
    Difference,
    Product,
    /// Of 0 and what is negated.
    Negation,
    /// Of 0 and what loses its sign.
    Magnitude,
    Quotient,
}

/// An int as its type writes it.
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
    /// The array or image that the mistake was made with.
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
