//! The workgroups of a launch, and their division into dispatches.
//!
//! A device limits the workgroups along each axis of a dispatch. A larger launch becomes several dispatches
//! if the kernel gets the first workgroup of its part (`kps.base`), or does not depend on the workgroup.

use kps_device::{DeviceError, Limit};

use crate::error::{ComputeError, Result};
use crate::kernel::Kernel;
use crate::tensor::Tensor;

/// Limit of dispatches in one launch: sixteen times as many as one axis ever needs. More would fill the
/// memory.
const MAX_PARTS: u64 = 1 << 20;

/// The number of invocations of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Extent {
    /// One invocation for each element of the first tensor if the kernel has a domain, else one workgroup for
    /// each.
    #[default]
    Default,
    /// Workgroups along x, y and z. Zero along x is [`Extent::Default`]; zero along y or z is one.
    Groups([u32; 3]),
    /// Invocations, the last axis along x; rounded up to whole workgroups.
    Domain(Vec<usize>),
}

impl From<[u32; 3]> for Extent {
    fn from(groups: [u32; 3]) -> Extent {
        Extent::Groups(groups)
    }
}

/// Workgroups and invocations of one launch, along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub groups: [u32; 3],
    pub domain: [u64; 3],
}

/// One dispatch of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Invocations of the whole launch.
    pub domain: [u64; 3],
    /// The first workgroup of this part.
    pub base: [u32; 3],
    /// Workgroups of this part.
    pub groups: [u32; 3],
}

impl Grid {
    /// The whole grid as one part.
    pub fn whole(self) -> Part {
        Part { domain: self.domain, base: [0; 3], groups: self.groups }
    }

    /// The number of parts that [`Grid::parts`] returns.
    fn n_parts(self, limits: [u32; 3]) -> u64 {
        let of_axis = |axis: usize| u64::from(self.groups[axis].div_ceil(limits[axis].max(1)));
        (0..3).map(of_axis).fold(1, u64::saturating_mul).max(1)
    }

    /// Divides the grid into boxes of at most `limits` workgroups. An empty grid is one part without
    /// workgroups.
    pub fn parts(self, limits: [u32; 3]) -> Vec<Part> {
        if self.groups.contains(&0) {
            return vec![self.whole()];
        }
        let starts = |axis: usize| (0..self.groups[axis]).step_by(limits[axis].max(1) as usize);
        let mut parts = Vec::new();
        for z in starts(2) {
            for y in starts(1) {
                for x in starts(0) {
                    let base = [x, y, z];
                    let groups = std::array::from_fn(|axis| limits[axis].min(self.groups[axis] - base[axis]));
                    parts.push(Part { domain: self.domain, base, groups });
                }
            }
        }
        parts
    }
}

impl Kernel {
    /// The grid of a launch with these tensors.
    pub(crate) fn grid(&self, extent: &Extent, tensors: &[Tensor]) -> Result<Grid> {
        let size = || tensors.first().map(Tensor::size).ok_or(ComputeError::NoTensors);
        match extent {
            Extent::Domain(domain) => self.domain_grid(domain),
            Extent::Groups([x, y, z]) if *x != 0 => self.groups_grid([*x, (*y).max(1), (*z).max(1)]),
            Extent::Default | Extent::Groups(_) if self.push.has_domain() => self.domain_grid(&[size()?]),
            Extent::Default | Extent::Groups(_) => {
                let groups = u32::try_from(size()?).unwrap_or(u32::MAX);
                self.groups_grid([groups, 1, 1])
            }
        }
    }

    fn groups_grid(&self, groups: [u32; 3]) -> Result<Grid> {
        let device = self.context.device("dispatch on")?;
        let info = device.info();
        const AXES: [&str; 3] = ["workgroups along x", "workgroups along y", "workgroups along z"];
        for (axis, what) in AXES.into_iter().enumerate() {
            if !self.may_be_split() && groups[axis] > info.limits.max_groups[axis] {
                let (asked, limit) = (groups[axis].into(), info.limits.max_groups[axis].into());
                return Err(DeviceError::LimitExceeded {
                    what: Limit::Other(what),
                    asked,
                    limit,
                    device: info.name.clone(),
                }
                .into());
            }
        }
        let local = self.interface.local_size;
        let domain = std::array::from_fn(|axis| u64::from(groups[axis]) * u64::from(local[axis]));
        Ok(Grid { groups, domain })
    }

    fn domain_grid(&self, shape: &[usize]) -> Result<Grid> {
        if shape.len() > 3 {
            return Err(ComputeError::DomainRank { domain: shape.to_vec() });
        }
        let limits = self.context.device("dispatch on")?.info().limits;
        let mut grid = Grid { groups: [1; 3], domain: [1; 3] };
        for (axis, n) in shape.iter().rev().enumerate() {
            let local = u64::from(self.interface.local_size[axis].max(1));
            let n_groups = if self.may_be_split() { u32::MAX } else { limits.max_groups[axis] };
            let limit = (u64::from(n_groups) * local).min(self.push.domain_limit());
            if *n as u64 > limit {
                return Err(ComputeError::DomainSize { domain: shape.to_vec(), limit });
            }
            grid.domain[axis] = *n as u64;
            grid.groups[axis] = (*n as u64).div_ceil(local) as u32;
        }
        Ok(grid)
    }

    /// Whether several dispatches give the same result.
    fn may_be_split(&self) -> bool {
        self.push.has_base() || !self.interface.depends_on_group
    }

    /// The dispatches of a launch.
    pub(crate) fn parts(&self, grid: Grid) -> Result<Vec<Part>> {
        let device = self.context.device("dispatch on")?;
        let info = device.info();
        let asked = grid.n_parts(info.limits.max_groups);
        if asked > MAX_PARTS {
            let what = Limit::Other("the number of dispatches that the launch would be");
            let device = info.name.clone();
            return Err(DeviceError::LimitExceeded { what, asked, limit: MAX_PARTS, device }.into());
        }
        Ok(grid.parts(info.limits.max_groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_axis_never_has_too_many_parts_and_three_may() {
        let n_parts = |groups| Grid { groups, domain: [1; 3] }.n_parts([65535; 3]);
        assert!(n_parts([u32::MAX, 1, 1]) <= MAX_PARTS);
        assert!(n_parts([u32::MAX; 3]) > MAX_PARTS);
    }

    #[test]
    fn parts_cover_every_workgroup_once() {
        let grid = Grid { groups: [7, 3, 1], domain: [70, 3, 1] };
        let parts = grid.parts([3, 2, 65535]);
        let mut seen = [0; 21];
        for part in &parts {
            for y in 0..part.groups[1] {
                for x in 0..part.groups[0] {
                    seen[((part.base[1] + y) * 7 + part.base[0] + x) as usize] += 1;
                }
            }
        }
        assert_eq!(parts.len(), 6);
        assert_eq!(grid.n_parts([3, 2, 65535]), 6);
        assert!(seen.iter().all(|n| *n == 1));
        let empty = Grid { groups: [0, 3, 1], domain: [0, 3, 1] };
        assert_eq!(empty.parts([3; 3]), [empty.whole()]);
        assert_eq!(grid.parts([65535; 3]), [grid.whole()]);
    }
}
