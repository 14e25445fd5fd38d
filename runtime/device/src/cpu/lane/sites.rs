//! What the probes of a kernel stand for, as data. [`crate::cpu::instrumentation`] puts probes in and watches them.

use kps_scalar::Scalar;

use crate::Access;
use crate::cpu::module::Line;
use crate::findings::{Arithmetic, ArrayName, Beyond};

/// What one probe stands for, and its line in the kernel.
#[derive(Clone, Debug)]
pub struct Site<L = Option<Line>> {
    pub kind: SiteKind,
    pub line: L,
}

#[derive(Clone, Debug)]
pub enum SiteKind {
    Check(CheckSite),
    Profile(ProfileSite),
}

/// What is wrong where a probe is reached. Its values are those that each kind names, in order.
#[derive(Clone, Debug)]
pub enum CheckSite {
    /// Index and length of each axis.
    Index {
        array: Option<ArrayName>,
        access: Access,
        indices: Vec<Scalar>,
        beyond: Beyond,
    },
    /// Coordinate and size along each axis of an image.
    Texel {
        image: Option<ArrayName>,
        access: Access,
        signed: bool,
    },
    /// The dividend.
    Division {
        number: Scalar,
    },
    /// The amount.
    Shift {
        amount: Scalar,
        width: u32,
    },
    /// The float, whose type has so many binary digits.
    Conversion {
        from: Scalar,
        n_digits: u32,
        to: Scalar,
    },
    /// Always reached: the components of what should be the same in all of the workgroup.
    Uniform {
        number: Scalar,
    },
    Overflow {
        op: Arithmetic,
        number: Scalar,
    },
    /// The float, and the numbers that it was made of.
    NonFinite {
        number: Scalar,
        of: Vec<Scalar>,
    },
    /// Always reached: the address, and what is stored there. `offset` is added to the address. What is merely copied
    /// was loaded at the probe `copied_from`.
    Access {
        touch: Touch,
        place: Where,
        offset: u32,
        size: u32,
        copied_from: Option<u32>,
    },
    /// Always reached: the three coordinates, and the four words that are stored there.
    TexelAccess {
        touch: Touch,
        image: u32,
    },
}

impl CheckSite {
    /// Whether it looks at the values of one lane alone, whatever others do before or behind it.
    pub fn is_of_one_lane(&self) -> bool {
        !matches!(self, CheckSite::Uniform { .. } | CheckSite::Access { .. } | CheckSite::TexelAccess { .. })
    }

    /// What is done to which memory, where it is an access.
    pub fn access(&self) -> Option<(Touch, Where)> {
        match *self {
            CheckSite::Access { touch, place, .. } => Some((touch, place)),
            CheckSite::TexelAccess { touch, image } => Some((touch, Where::Image(image))),
            _ => None,
        }
    }
}

/// Memory that invocations share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Shared,
    Buffer(u32),
    Image(u32),
    /// The address tells.
    Anywhere,
}

/// What an access does, for all that others may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Read,
    /// A read of what is only stored again.
    Copy,
    Write,
    /// All at once.
    AtomicRead,
    AtomicWrite,
    AtomicChange,
}

impl Touch {
    pub fn is_atomic(self) -> bool {
        matches!(self, Touch::AtomicRead | Touch::AtomicWrite | Touch::AtomicChange)
    }

    pub fn reads(self) -> bool {
        !matches!(self, Touch::Write | Touch::AtomicWrite)
    }

    pub fn writes(self) -> bool {
        matches!(self, Touch::Write | Touch::AtomicWrite | Touch::AtomicChange)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum ProfileSite {
    /// So many instructions of a line.
    Run { instructions: u32 },
    /// Its value, if it has one, is where the access lies, without the constant.
    Access { memory: Memory, direction: Direction, constant: u64, bytes: u32 },
    /// Its value says which way the lane goes.
    Branch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Global,
    Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Read,
    Write,
    Both,
}
