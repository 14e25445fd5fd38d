//! Selects the code of a dispatch. Code is compiled on demand. Short-running kernels get quick code for
//! single lanes. Others get optimised code, in SIMD groups where possible. The results are the same.
//!
//! Workgroups wholly inside the domain run code without the [`Guard`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::Lanes;
use super::emit::{self, Code, Effort, LineTable};
use super::lane::guard::{self, Guard};
use super::lane::regions::{self, Carried, Regions};
use super::lane::subgroup_ops::{self, InlinedSubgroupOps};
use super::lane::{Kernel, simd};
use super::library::Usage;
use super::module::Line;
use crate::{Result, log};

/// Extra cost of optimised compilation in nanoseconds: for each kernel, and for each instruction.
const CARE: u64 = 500_000;
const CARE_PER_INST: u64 = 10_000;
/// Estimated instructions of quick code in a nanosecond. Loop counts are guesses.
pub const INSTS_PER_NANOSECOND: u64 = 4;

/// A kernel and the code compiled so far. Threads that need the same code wait for the one that compiles it.
pub struct Tiers {
    pub kernel: Kernel,
    regions: Regions,
    carried: Carried,
    lanes: Lanes,
    guard: Option<Guard>,
    quick: OnceLock<Arc<Code>>,
    careful: OnceLock<Arc<Code>>,
    inside: OnceLock<Arc<Code>>,
    /// Locked during compilation.
    lines: Mutex<LineTable>,
    /// Nanoseconds that quick code has run so far.
    spent: AtomicU64,
    /// Nanoseconds after which optimised code pays.
    worth: u64,
}

/// Code for the workgroups of a dispatch.
pub struct Chosen {
    pub code: Arc<Code>,
    pub inside: Option<Inside>,
}

/// Code for the first workgroups along each axis, whose invocations are all inside the domain.
pub struct Inside {
    pub code: Arc<Code>,
    pub groups: [u32; 3],
}

impl Tiers {
    pub fn new(kernel: Kernel, regions: Regions, carried: Carried, lanes: Lanes) -> Tiers {
        let n_insts: usize = kernel.blocks.iter().map(|block| block.insts.len()).sum();
        // Counting takes more time than better code would save.
        let worth = if kernel.is_profiled() { u64::MAX } else { CARE + CARE_PER_INST * n_insts as u64 };
        let uses_simd = lanes != Lanes::Single && !kernel.runs_one_by_one() && regions.all.len() == 1;
        Tiers {
            guard: if uses_simd { guard::find(&kernel) } else { None },
            kernel,
            regions,
            carried,
            lanes,
            quick: OnceLock::new(),
            careful: OnceLock::new(),
            inside: OnceLock::new(),
            lines: Mutex::default(),
            spent: AtomicU64::new(0),
            worth,
        }
    }

    /// The line at which the code was stopped.
    pub fn line(&self, place: usize) -> Option<Line> {
        self.lines().line(place)
    }

    /// Notes how long a dispatch took.
    pub fn note(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        // The sum wraps around only after centuries.
        self.spent.fetch_add(took, Ordering::Relaxed);
    }

    /// Selects code for a grid of workgroups, each of so many instructions.
    pub fn choose(&self, usage: &Usage, groups: [u32; 3], group_cost: u64, push: &[u8]) -> Result<Chosen> {
        let all = count(groups);
        let careful = |n_groups: u64| self.is_worth(n_groups.saturating_mul(group_cost));
        let inside = match &self.guard {
            Some(guard) => {
                let bounds = guard.groups_inside(push);
                let groups = std::array::from_fn(|axis| bounds[axis].min(groups[axis]));
                let some = count(groups) > 0 && careful(all);
                some.then(|| self.inside(usage, guard, groups)).transpose()?
            }
            None => None,
        };
        let rest = inside.as_ref().map_or(all, |inside| all - count(inside.groups));
        let code = match &inside {
            Some(inside) if rest == 0 => inside.code.clone(),
            _ if careful(rest) => self.careful(usage)?,
            _ => self.quick(usage)?,
        };
        Ok(Chosen { code, inside })
    }

    /// Whether any dispatch runs optimised code.
    pub fn is_final(&self) -> bool {
        self.is_worth(0)
    }

    fn is_worth(&self, cost: u64) -> bool {
        let expected = cost / INSTS_PER_NANOSECOND;
        self.lanes != Lanes::Adaptive
            || self.spent.load(Ordering::Relaxed).saturating_add(expected) >= self.worth
    }

    fn quick(&self, usage: &Usage) -> Result<Arc<Code>> {
        if self.careful.get().is_some() {
            return self.careful(usage);
        }
        self.made(&self.quick, usage, |lines| {
            emit::compile(&self.kernel, &self.regions, &self.carried, None, lines, Effort::Quick)
        })
    }

    fn careful(&self, usage: &Usage) -> Result<Arc<Code>> {
        self.made(&self.careful, usage, |lines| {
            let Tiers { kernel, regions, carried, .. } = self;
            if self.lanes == Lanes::Single || kernel.runs_one_by_one() {
                return emit::compile(kernel, regions, carried, None, lines, Effort::Care);
            }
            if let Some(InlinedSubgroupOps { kernel, regions, carried }) =
                subgroup_ops::inline(kernel, regions)
                && let Some(plan) = simd::choose(&kernel, &regions, &carried)
            {
                return emit::compile(&kernel, &regions, &carried, Some(&plan), lines, Effort::Care);
            }
            let plan = simd::choose(kernel, regions, carried);
            emit::compile(kernel, regions, carried, plan.as_ref(), lines, Effort::Care)
        })
    }

    fn inside(&self, usage: &Usage, guard: &Guard, groups: [u32; 3]) -> Result<Inside> {
        let code = self.made(&self.inside, usage, |lines| {
            let kernel = &guard.inside;
            let regions = regions::split(kernel).expect("the kernel has fewer paths than before");
            let carried = Carried::default();
            let plan = simd::choose(kernel, &regions, &carried);
            emit::compile(kernel, &regions, &carried, plan.as_ref(), lines, Effort::Care)
        })?;
        Ok(Inside { code, groups })
    }

    fn made(
        &self,
        cell: &OnceLock<Arc<Code>>,
        usage: &Usage,
        make: impl FnOnce(&mut LineTable) -> Result<Code>,
    ) -> Result<Arc<Code>> {
        if let Some(code) = cell.get() {
            return Ok(code.clone());
        }
        let lines = &mut *self.lines();
        // Another thread may have compiled it before the lock was free.
        if let Some(code) = cell.get() {
            return Ok(code.clone());
        }
        let began = Instant::now();
        let code = Arc::new(make(lines)?);
        log::emitted(code.n_bytes(), began);
        usage.compiled(code.n_bytes());
        Ok(cell.get_or_init(|| code).clone())
    }

    fn lines(&self) -> MutexGuard<'_, LineTable> {
        // Lines that a failed compilation leaves in the table do no harm.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn count(groups: [u32; 3]) -> u64 {
    groups.iter().fold(1, |n: u64, &along| n.saturating_mul(u64::from(along)))
}
