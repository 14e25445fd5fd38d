//! Instrumentation sites of a kernel, as data. [`crate::cpu::instrumentation`] inserts them and observes
//! them.

use kps_scalar::Scalar;

use crate::Access;
use crate::cpu::module::Line;
use crate::findings::{Arithmetic, ArrayName, Beyond};

/// One instrumentation site, and its line in the kernel.
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

/// What a site checks. Each kind lists its values, in order.
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
    /// Unconditional: the components of a value that should be uniform in the workgroup.
    Uniform {
        number: Scalar,
    },
    Overflow {
        op: Arithmetic,
        number: Scalar,
    },
    /// The float, and its operands.
    NonFinite {
        number: Scalar,
        of: Vec<Scalar>,
    },
    /// Unconditional: the address, and the stored value. `offset` is added to the address. A copy also names
    /// the site `copied_from`, which loaded the value.
    Access {
        touch: Touch,
        place: Where,
        offset: u32,
        size: u32,
        copied_from: Option<u32>,
    },
    /// Unconditional: the three coordinates, and the four stored words.
    TexelAccess {
        touch: Touch,
        image: u32,
    },
}

impl CheckSite {
    /// Whether the check depends on the values of one lane only.
    pub fn is_of_one_lane(&self) -> bool {
        !matches!(self, CheckSite::Uniform { .. } | CheckSite::Access { .. } | CheckSite::TexelAccess { .. })
    }

    /// The kind of access and its memory, if it is an access.
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
    /// The address decides.
    Anywhere,
}

/// The kind of an access, as other invocations see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Read,
    /// A read of a value that is only stored again.
    Copy,
    Write,
    /// Atomic.
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
    /// The value, if any, is the address without the constant.
    Access { memory: Memory, direction: Direction, constant: u64, bytes: u32 },
    /// The value is the condition of the branch.
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
