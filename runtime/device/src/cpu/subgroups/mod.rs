//! Workgroups whose lanes may wait in different places: at barriers all of them, at an operation of their
//! subgroup those that come to it.
//!
//! Each lane's memory says what the lane does ([`LaneState`]). A subgroup whose lanes all wait does what the
//! lanes that are behind ask for ([`ops`]), with those that ask for the same in the same round of every loop
//! as its active lanes; they go on, until they wait again. So lanes that parted meet where their ways do.
//! A barrier opens when every lane of the workgroup waits at it. Lanes that can never meet are told apart.
//!
//! Lanes of gangs meet by themselves: their code calls [`meet`] where they do.

mod ops;
mod simd;

use std::cmp::Ordering;

use self::ops::Slots;
pub use self::ops::identity;
pub use self::simd::perform;
use super::emit::context::{DONE, LaneState};
use super::lane::regions::Regions;
use super::lane::{GroupKind, GroupOp, Kernel, Terminator};

/// What lanes of a kernel wait for, and where that is written in their memory.
#[derive(Clone, Debug)]
pub struct LaneScheduler {
    n_lanes: usize,
    subgroup_size: usize,
    /// Bytes of one lane's memory, and where its state lies in it.
    stride: usize,
    state: usize,
    /// What is waited for before each region.
    waits: Vec<Wait>,
    ops: Vec<GroupOp>,
}

#[derive(Clone, Debug)]
enum Wait {
    /// Nothing: it is the first region. As a state it stands for the end.
    Nothing,
    Barrier,
    /// The number of the operation.
    Subgroup(usize),
}

/// What a workgroup does next.
pub enum Step {
    /// The lanes that are ready for a region run through it.
    Region(usize),
    /// A barrier opens: what comes is ordered behind what was.
    Ordered,
}

/// How a workgroup ended.
pub enum Ended {
    Done,
    /// A region stopped with this status.
    Stopped(i32),
    /// Lanes wait before these two regions, 0 is the end: the first lane before the first of them, this one before the
    /// other.
    Diverged([u32; 2], u32),
}

impl LaneScheduler {
    /// `None` where lanes wait at barriers alone.
    pub fn new(kernel: &Kernel, regions: &Regions, stride: u32) -> Option<LaneScheduler> {
        if kernel.group_ops.is_empty() {
            return None;
        }
        let mut waits = vec![Wait::Nothing; regions.all.len()];
        for block in &kernel.blocks {
            let Some(&region) = block.end.waits().and_then(|behind| regions.by_entry.get(&behind)) else {
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

    /// Runs a workgroup, step by step: `enter` takes each.
    ///
    /// # Safety
    /// `frames` is the memory of all lanes of the workgroup, as `enter` uses it, and nobody else does.
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

/// Whether lanes that met in their subgroups waited at a barrier there.
#[derive(PartialEq, Eq)]
enum MemoryOrder {
    Ordered,
    Unordered,
}

/// Lanes of one subgroup: a bit for each, counted from the lane of the workgroup that is its first.
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

    /// In order.
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
    /// Where 8 bytes of a lane's memory lie.
    fn at(&self, lane: usize, offset: usize) -> *mut u8 {
        debug_assert!(lane < self.scheduler.n_lanes && offset + 4 <= self.scheduler.stride);
        // SAFETY: `LaneScheduler::run` was given the memory of all lanes, `stride` bytes each; offsets are those
        // that lowering set aside in it.
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
        // SAFETY: lowering set aside eight bytes for each operand and result, in the memory of every lane.
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

    /// In each subgroup the lanes that are behind do what they wait at, and are ready for what comes next.
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

    /// Whether all lanes of a subgroup wait at one place, in one round of the loops round it. It is so most
    /// of the time, and then nothing has to be weighed.
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

    /// Which of two lanes at operations is behind; equal where they are active together.
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

    /// The region that every lane goes on with; two that they do not agree on, and the lane that differs from the first.
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
