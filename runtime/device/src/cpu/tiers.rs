//! Which code a dispatch runs. Code is made when it is first wanted: quickly, for single lanes, as long as a
//! kernel has little to do; then with care, in gangs where that can be done. Results are the same.
//!
//! A kernel with a [`Guard`] runs without it in workgroups that are wholly inside.

use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use super::Lanes;
use super::emit::{Code, Compiler, Effort, LineTable};
use super::lane::guard::{self, Guard};
use super::lane::regions::{self, Carried, Regions};
use super::lane::{Kernel, gangs};
use super::module::Line;
use crate::Result;

/// What code made with care costs more, in nanoseconds: whatever the kernel, and for each instruction.
const CARE: u64 = 500_000;
const CARE_PER_INST: u64 = 10_000;
/// Instructions that quick code does in a nanosecond, roughly; where loops are, their rounds are only guessed.
const INSTS_PER_NANOSECOND: u64 = 4;

/// A kernel with the code made of it so far.
pub struct Tiers {
    pub kernel: Kernel,
    regions: Regions,
    carried: Carried,
    lanes: Lanes,
    guard: Option<Guard>,
    quick: OnceCell<Arc<Code>>,
    careful: OnceCell<Arc<Code>>,
    inside: OnceCell<Arc<Code>>,
    lines: RefCell<LineTable>,
    /// Nanoseconds that quick code has taken so far.
    spent: Cell<u64>,
    /// Nanoseconds that make careful code worth it.
    worth: u64,
}

/// Code for the workgroups of a dispatch.
pub struct Chosen {
    pub code: Arc<Code>,
    pub inside: Option<Inside>,
}

/// Code for the workgroups whose invocations are all inside: the first few along each axis.
pub struct Inside {
    pub code: Arc<Code>,
    pub groups: [u32; 3],
}

impl Tiers {
    pub fn new(kernel: Kernel, regions: Regions, carried: Carried, lanes: Lanes) -> Tiers {
        let n_insts: usize = kernel.blocks.iter().map(|block| block.insts.len()).sum();
        let in_gangs = lanes != Lanes::Single && !kernel.runs_one_by_one() && regions.all.len() == 1;
        Tiers {
            guard: if in_gangs { guard::find(&kernel) } else { None },
            kernel,
            regions,
            carried,
            lanes,
            quick: OnceCell::new(),
            careful: OnceCell::new(),
            inside: OnceCell::new(),
            lines: RefCell::default(),
            spent: Cell::new(0),
            worth: CARE + CARE_PER_INST * n_insts as u64,
        }
    }

    /// The line of a place where code was stopped.
    pub fn line(&self, place: usize) -> Option<Line> {
        self.lines.borrow().line(place)
    }

    /// Notes how long a dispatch took.
    pub fn note(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.spent.set(self.spent.get().saturating_add(took));
    }

    /// Chooses code for a grid of workgroups, each of so many instructions.
    pub fn choose(
        &self,
        compiler: &mut Compiler,
        groups: [u32; 3],
        group_cost: u64,
        push: &[u8],
    ) -> Result<Chosen> {
        let all = count(groups);
        let careful = |n_groups: u64| self.is_worth(n_groups.saturating_mul(group_cost));
        let inside = match &self.guard {
            Some(guard) => {
                let bounds = guard.groups_inside(push);
                let groups = std::array::from_fn(|axis| bounds[axis].min(groups[axis]));
                let some = count(groups) > 0 && careful(all);
                some.then(|| self.inside(compiler, guard, groups)).transpose()?
            }
            None => None,
        };
        let rest = inside.as_ref().map_or(all, |inside| all - count(inside.groups));
        let code = match &inside {
            Some(inside) if rest == 0 => inside.code.clone(),
            _ if careful(rest) => self.careful(compiler)?,
            _ => self.quick(compiler)?,
        };
        Ok(Chosen { code, inside })
    }

    fn is_worth(&self, cost: u64) -> bool {
        let expected = cost / INSTS_PER_NANOSECOND;
        self.lanes != Lanes::AsItPays || self.spent.get().saturating_add(expected) >= self.worth
    }

    fn quick(&self, compiler: &mut Compiler) -> Result<Arc<Code>> {
        if self.careful.get().is_some() {
            return self.careful(compiler);
        }
        made(&self.quick, || {
            let lines = &mut self.lines.borrow_mut();
            compiler.compile(&self.kernel, &self.regions, &self.carried, None, lines, Effort::Quick)
        })
    }

    fn careful(&self, compiler: &mut Compiler) -> Result<Arc<Code>> {
        made(&self.careful, || {
            let in_gangs = self.lanes != Lanes::Single && !self.kernel.runs_one_by_one();
            let plan = in_gangs.then(|| gangs::choose(&self.kernel, &self.regions, &self.carried)).flatten();
            let lines = &mut self.lines.borrow_mut();
            compiler.compile(&self.kernel, &self.regions, &self.carried, plan.as_ref(), lines, Effort::Care)
        })
    }

    fn inside(&self, compiler: &mut Compiler, guard: &Guard, groups: [u32; 3]) -> Result<Inside> {
        let code = made(&self.inside, || {
            let kernel = &guard.inside;
            let regions = regions::split(kernel).expect("the kernel has fewer ways than before");
            let carried = Carried::default();
            let plan = gangs::choose(kernel, &regions, &carried);
            let lines = &mut self.lines.borrow_mut();
            compiler.compile(kernel, &regions, &carried, plan.as_ref(), lines, Effort::Care)
        })?;
        Ok(Inside { code, groups })
    }
}

fn count(groups: [u32; 3]) -> u64 {
    groups.iter().fold(1, |n: u64, &along| n.saturating_mul(u64::from(along)))
}

fn made(cell: &OnceCell<Arc<Code>>, make: impl FnOnce() -> Result<Code>) -> Result<Arc<Code>> {
    if let Some(code) = cell.get() {
        return Ok(code.clone());
    }
    let code = Arc::new(make()?);
    Ok(cell.get_or_init(|| code).clone())
}
