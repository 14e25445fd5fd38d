//! Runs workgroups whose lanes may wait at different places: at barriers, or at operations of their
//! subgroups.
//!
//! Each lane's memory has its [`LaneState`]. When all lanes of a subgroup wait, the operation of the lanes
//! furthest behind runs ([`ops`]). Its active lanes are those that wait at the same operation in the same
//! iteration of every loop. They then run on until they wait again. So diverged lanes reconverge where their
//! paths join.
//!
//! A barrier opens when every lane of the workgroup waits at it. Lanes that can never reconverge are reported
//! as diverged.
//!
//! In SIMD groups the lanes reconverge by themselves, and their code calls [`perform`].

mod ops;
mod simd;

use std::cmp::Ordering;

use self::ops::Slots;
pub use self::ops::identity;
pub use self::simd::perform;
use super::emit::context::{DONE, LaneState};
use super::lane::regions::Regions;
use super::lane::{GroupKind, GroupOp, Kernel, Terminator};

/// The waits of a kernel, and their state in the lanes' memory.
#[derive(Clone, Debug)]
pub struct LaneScheduler {
    n_lanes: usize,
    subgroup_size: usize,
    /// Bytes of one lane's memory, and the offset of its state in it.
    stride: usize,
    state: usize,
    /// The reason of the wait before each region.
    waits: Vec<Wait>,
    ops: Vec<GroupOp>,
}

#[derive(Clone, Debug)]
enum Wait {
    /// None: it is the first region. As a state it means that the lane has ended.
    Nothing,
    Barrier,
    /// The index of the operation.
    Subgroup(usize),
}

/// The next step of a workgroup.
pub enum Step {
    /// The lanes that are ready for a region run it.
    Region(usize),
    /// A barrier opens and orders memory accesses.
    Ordered,
}

/// How a workgroup ended.
pub enum Ended {
    Done,
    /// A region stopped with this status.
    Stopped(i32),
    /// Two regions before which lanes wait; 0 is the end. The first lane waits at the first, and this lane at
    /// the second.
    Diverged([u32; 2], u32),
}

impl LaneScheduler {
    /// `None` if lanes wait at barriers only.
    pub fn new(kernel: &Kernel, regions: &Regions, stride: u32) -> Option<LaneScheduler> {
        if kernel.group_ops.is_empty() {
            return None;
        }
        let mut waits = vec![Wait::Nothing; regions.all.len()];
        for block in &kernel.blocks {
            let Some(&region) = block.end.waits().and_then(|after| regions.by_entry.get(&after)) else {
                continue;
            };
            waits[region] = match block.end {
                Terminator::Subgroup { op, .. } => Wait::Subgroup(op),
                _ => Wait::Barrier,
            };
        }
        Some(LaneScheduler {
            n_lanes: kernel.local_size.iter().product::<u32>() as usize,
            subgroup_size: kernel.subgroup_size as usize,
            stride: stride as usize,
            state: stride as usize - 8,
            waits,
            ops: kernel.group_ops.clone(),
        })
    }

    /// Runs a workgroup. It calls `enter` for each step.
    ///
    /// # Safety
    /// `frames` is the memory of all lanes of the workgroup, as `enter` uses it. Nothing else accesses it.
    pub unsafe fn run(&self, frames: *mut u8, mut enter: impl FnMut(Step) -> i32) -> Ended {
        let lanes = Lanes { frames, scheduler: self };
        for lane in 0..self.n_lanes {
            lanes.set_state(lane, LaneState::Ready(0));
        }
        let mut ready = vec![0];
        loop {
            for &region in &ready {
                let status = enter(Step::Region(region));
                if status != DONE {
                    return Ended::Stopped(status);
                }
            }
            ready.clear();
            if lanes.step_subgroups(&mut ready) == MemoryOrder::Ordered {
                enter(Step::Ordered);
            }
            if !ready.is_empty() {
                continue;
            }
            match lanes.open_barrier() {
                Ok(0) => return Ended::Done,
                Ok(region) => {
                    enter(Step::Ordered);
                    ready.push(region);
                }
                Err((diverged, lane)) => return Ended::Diverged(diverged, lane),
            }
        }
    }
}

/// Whether a subgroup barrier was among the operations.
#[derive(PartialEq, Eq)]
enum MemoryOrder {
    Ordered,
    Unordered,
}

/// Lanes of one subgroup: a bit for each, counted from the subgroup's first lane in the workgroup.
#[derive(Clone, Copy)]
struct Active {
    first: usize,
    bits: u64,
}

impl Active {
    fn first(first: usize, n: usize) -> Active {
        Active { first, bits: u64::MAX >> (64 - n) }
    }

    fn only(self, wanted: impl Fn(usize) -> bool) -> Active {
        let bit = |lane: usize| 1 << (lane - self.first);
        let bits = self.lanes().filter(|&lane| wanted(lane)).fold(0, |bits, lane| bits | bit(lane));
        Active { bits, ..self }
    }

    /// In ascending order.
    fn lanes(self) -> impl Iterator<Item = usize> {
        let mut rest = self.bits;
        std::iter::from_fn(move || {
            let place = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (place < 64).then_some(self.first + place)
        })
    }

    fn contains(self, lane: usize) -> bool {
        lane >= self.first && lane - self.first < 64 && self.bits >> (lane - self.first) & 1 != 0
    }
}

/// The memory of the lanes of a workgroup.
struct Lanes<'t> {
    frames: *mut u8,
    scheduler: &'t LaneScheduler,
}

impl Lanes<'_> {
    /// The address of 8 bytes in a lane's memory.
    fn at(&self, lane: usize, offset: usize) -> *mut u8 {
        debug_assert!(lane < self.scheduler.n_lanes && offset + 4 <= self.scheduler.stride);
        // SAFETY: `LaneScheduler::run` was given the memory of all lanes, `stride` bytes each. Lowering
        // reserved the offsets in it.
        unsafe { self.frames.add(lane * self.scheduler.stride + offset) }
    }

    fn u32(&self, lane: usize, offset: usize) -> u32 {
        // SAFETY: `at` gives bytes of the lane's memory, and slots are multiples of 4.
        unsafe { self.at(lane, offset).cast::<u32>().read() }
    }

    fn state(&self, lane: usize) -> LaneState {
        LaneState::of_bits(self.u32(lane, self.scheduler.state))
    }

    fn set_state(&self, lane: usize, state: LaneState) {
        // SAFETY: as in `u32`.
        unsafe { self.at(lane, self.scheduler.state).cast::<u32>().write(state.bits()) }
    }

    fn slots(&self, op: &GroupOp) -> Slots {
        let start = self.at(0, op.slots as usize);
        // SAFETY: lowering reserved eight bytes for each operand and result, in the memory of every lane.
        unsafe { Slots::new(start, [self.scheduler.stride, 8], self.scheduler.subgroup_size) }
    }

    /// The operation that a lane waits at.
    fn group_op(&self, lane: usize) -> Option<(usize, &GroupOp)> {
        let LaneState::Waiting(region) = self.state(lane) else { return None };
        match &self.scheduler.waits[region] {
            Wait::Subgroup(op) => Some((region, &self.scheduler.ops[*op])),
            Wait::Nothing | Wait::Barrier => None,
        }
    }

    /// Performs the operation of the lanes furthest behind in each subgroup, and makes them ready.
    fn step_subgroups(&self, ready: &mut Vec<usize>) -> MemoryOrder {
        let mut order = MemoryOrder::Unordered;
        let (n_lanes, size) = (self.scheduler.n_lanes, self.scheduler.subgroup_size);
        for first in (0..n_lanes).step_by(size) {
            let all = Active::first(first, size.min(n_lanes - first));
            let found =
                if self.is_converged(all) { self.whole_subgroup(all) } else { self.lanes_behind(all) };
            let Some((region, op, active)) = found else { continue };
            ops::perform(&self.slots(op), op, active);
            if op.kind == GroupKind::Barrier {
                order = MemoryOrder::Ordered;
            }
            for lane in active.lanes() {
                self.set_state(lane, LaneState::Ready(region));
            }
            if !ready.contains(&region) {
                ready.push(region);
            }
        }
        order
    }

    /// Whether all lanes of a subgroup wait at one operation, in the same iteration of all loops around it.
    /// That is the fast and common case.
    fn is_converged(&self, all: Active) -> bool {
        let state = self.u32(all.first, self.scheduler.state);
        let same_state = all.lanes().all(|lane| self.u32(lane, self.scheduler.state) == state);
        let rounds = || {
            let op = self.group_op(all.first).map(|(_, op)| op);
            let first = op.map_or(0, |op| op.rounds as usize);
            (0..op.map_or(0, |op| op.loops.len())).map(move |i| first + 4 * i)
        };
        let same_round = |offset| {
            let round = self.u32(all.first, offset);
            all.lanes().all(|lane| self.u32(lane, offset) == round)
        };
        same_state && rounds().all(same_round)
    }

    fn whole_subgroup(&self, all: Active) -> Option<(usize, &GroupOp, Active)> {
        let (region, op) = self.group_op(all.first)?;
        Some((region, op, all))
    }

    fn lanes_behind(&self, all: Active) -> Option<(usize, &GroupOp, Active)> {
        let waiting = all.lanes().filter(|&lane| self.group_op(lane).is_some());
        let leader = waiting.reduce(|a, b| if self.order(b, a).is_lt() { b } else { a })?;
        let (region, op) = self.group_op(leader)?;
        let with_leader = |lane| self.group_op(lane).is_some() && self.order(lane, leader).is_eq();
        Some((region, op, all.only(with_leader)))
    }

    /// Orders two waiting lanes; the one that is behind comes first. Equal lanes are active together.
    fn order(&self, a: usize, b: usize) -> Ordering {
        let (Some((_, op_a)), Some((_, op_b))) = (self.group_op(a), self.group_op(b)) else {
            return Ordering::Equal;
        };
        if op_a.loops.is_empty() || op_b.loops.is_empty() {
            return op_a.place.cmp(&op_b.place);
        }
        let common = op_a.loops.iter().zip(&op_b.loops).take_while(|(a, b)| a == b).count();
        for i in 0..common {
            let round = |lane, op: &GroupOp| self.u32(lane, op.rounds as usize + 4 * i);
            let order = round(a, op_a).cmp(&round(b, op_b));
            if order.is_ne() {
                return order;
            }
        }
        op_a.place.cmp(&op_b.place)
    }

    /// The region that all lanes wait for. On divergence: two such regions, and the lane that differs from
    /// the first.
    fn open_barrier(&self) -> Result<usize, ([u32; 2], u32)> {
        let waits_for = |lane| match self.state(lane) {
            LaneState::Waiting(region) => region,
            LaneState::Ready(_) => unreachable!("lanes that were ready have run"),
        };
        let region = waits_for(0);
        for lane in 1..self.scheduler.n_lanes {
            let other = waits_for(lane);
            if other != region {
                return Err(([region as u32, other as u32], lane as u32));
            }
        }
        if region != 0 {
            for lane in 0..self.scheduler.n_lanes {
                self.set_state(lane, LaneState::Ready(region));
            }
        }
        Ok(region)
    }
}
