//! What a launch promises, so that a module can leave out what no such launch needs.
//!
//! A module is compiled for a [`Signature`](crate::Signature) with assumptions, and launched only where they hold. A launch
//! that breaks one takes another form of the kernel. The default promises the least that most launches keep.

use crate::index_range::IndexRange;
use crate::type_expr::Width;

/// The promises of a launch on which a module may rely.
///
/// What each array promises, its [`Reach`](crate::Reach) and the width of its counts, is in its
/// [`ArrayParam`](crate::ArrayParam).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct LaunchAssumptions {
    pub dispatches: Dispatches,
    pub boundary_test: BoundaryTest,
    /// Whether an i32 counts the invocations along each axis of the domain. `global_id` requires it, `global_id64` does
    /// not.
    pub ids: Width,
    pub memory: Memory,
    pub ints: Ints,
    /// Whether flat indices into arrays of several axes are in the range of an int.
    pub index_range: IndexRange,
}

/// How many dispatches a launch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Dispatches {
    #[default]
    One,
    /// The domain has more workgroups than the device takes at once. `kps.base` is the first workgroup of each
    /// dispatch.
    Several,
}

/// Whether invocations must test that they are inside the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum BoundaryTest {
    /// The last workgroups may have invocations outside the domain, which return at once.
    #[default]
    Needed,
    /// The domain is whole workgroups along each axis.
    Unneeded,
}

/// Whether the arrays of a launch may alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Memory {
    #[default]
    Apart,
    /// Two of them are the same tensor: a store through one is seen by a load through the other.
    Shared,
}

/// The size of the ints that a launch passes as scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Ints {
    #[default]
    Any,
    /// None is larger than [`Ints::MAX_MODEST`], as the sides of matrices and images are. An index made of them and of
    /// ids cannot overflow.
    Modest,
}

impl Ints {
    pub const MAX_MODEST: u128 = 1 << 14;

    pub fn of(ints: impl IntoIterator<Item = i128>) -> Ints {
        let is_modest = ints.into_iter().all(|int| int.unsigned_abs() <= Ints::MAX_MODEST);
        if is_modest { Ints::Modest } else { Ints::Any }
    }
}
