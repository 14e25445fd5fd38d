//! The workarounds of a target, as a set.

/// Some rows of [`TABLE`](super::TABLE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Workarounds {
    /// A bit for each row.
    rows: u32,
}

impl Workarounds {
    pub const NONE: Workarounds = Workarounds { rows: 0 };

    pub(super) const fn of_rows(rows: u32) -> Workarounds {
        Workarounds { rows }
    }

    pub(super) const fn have_row(self, at: usize) -> bool {
        self.rows & (1 << at) != 0
    }

    pub const fn or(self, other: Workarounds) -> Workarounds {
        Workarounds { rows: self.rows | other.rows }
    }

    pub const fn without(self, other: Workarounds) -> Workarounds {
        Workarounds { rows: self.rows & !other.rows }
    }
}
