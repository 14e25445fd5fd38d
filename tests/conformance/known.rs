//! Differences that stay, each with its reason. One that is no longer seen fails the test.

use crate::columns::Column;

pub struct Known {
    /// The rows, as a kernel writes them.
    pub calls: &'static [&'static str],
    /// The types that have it, as trials name them.
    pub types: &'static [&'static str],
    pub column: Column,
    /// What the device's name contains: others are not known to differ.
    pub device: &'static str,
    /// How many cells differ, at most.
    pub cells: usize,
    pub why: &'static str,
}

pub const KNOWN: &[Known] = &[Known {
    calls: &["x ** y", "x **= y", "pow(x, y)"],
    types: &["f64"],
    column: Column::Vulkan,
    device: "llvmpipe",
    cells: 3,
    why: "lavapipe loses the sign of a base that is -0.0, under an odd negative exponent; \
          the same words keep it on the built-in device",
}];

impl Known {
    pub fn covers(&self, call: &str, ty: &str, column: Column, n_cells: usize) -> bool {
        let is_cell = self.calls.contains(&call) && self.column == column && self.types.contains(&ty);
        is_cell && n_cells <= self.cells && column.device().contains(self.device)
    }
}
