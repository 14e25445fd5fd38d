//! Shadow memory of device memory: the last accesses to each cell.
//!
//! Barriers divide the time of a workgroup into epochs. Two accesses are ordered if they are by one
//! invocation, or by one workgroup in different epochs. Unordered accesses race if one of them writes and not
//! both are atomic. Writing the value that is there already is no race.
//!
//! Each cell stores two plain writes, two atomic changes and two reads, by different invocations. That
//! suffices to find a race at every line that has one, though not all participants. It stores two writes,
//! because the last may have written the old value. That one is no race, and would hide the one before it.

use rustc_hash::FxHashMap;

use crate::cpu::lane::Touch;

/// Cells of one page. Pages are allocated on first access.
const PAGE: u64 = 1024;

/// One access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Index in the dispatch, from 1; 0 is none.
    pub invocation: u32,
    pub epoch: u32,
    /// The site of the access.
    pub site_id: u32,
    pub is_atomic: bool,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    /// The last plain write, and an unordered one by another invocation.
    writes: [Event; 2],
    /// The value of the last plain write, if it is known.
    value: Option<u64>,
    /// The same for atomic changes.
    atomics: [Event; 2],
    /// The same for reads.
    reads: [Event; 2],
}

pub struct Shadow {
    pages: FxHashMap<u64, Box<[Cell]>>,
    /// Size of a cell in bytes.
    grain: u64,
    /// Invocations of a workgroup.
    n_lanes: u32,
}

impl Shadow {
    /// `grain` is the size of the smallest access.
    pub fn new(grain: u64, n_lanes: u32) -> Shadow {
        Shadow { pages: FxHashMap::default(), grain, n_lanes }
    }

    /// Records an access to `size` bytes, and returns the accesses with which it races.
    pub fn touch(
        &mut self,
        (address, size): (u64, u64),
        event: Event,
        (touch, value): (Touch, Option<u64>),
    ) -> Vec<Event> {
        let mut conflicts = Vec::new();
        let last = (address + size - 1) / self.grain;
        for cell in address / self.grain..=last {
            let n_lanes = self.n_lanes;
            let page = self.pages.entry(cell / PAGE);
            let page = page.or_insert_with(|| vec![Cell::default(); PAGE as usize].into());
            let cell = &mut page[(cell % PAGE) as usize];
            let order = Order { n_lanes };
            if touch.writes() {
                conflicts.extend(cell.races_of_write(event, value, order));
                match event.is_atomic {
                    true => note(&mut cell.atomics, event, order),
                    false => {
                        note(&mut cell.writes, event, order);
                        cell.value = value;
                    }
                }
            } else {
                conflicts.extend(cell.races_of_read(event, order));
                note(&mut cell.reads, event, order);
            }
        }
        conflicts
    }
}

#[derive(Clone, Copy)]
struct Order {
    n_lanes: u32,
}

impl Order {
    fn same_group(self, a: Event, b: Event) -> bool {
        let group = |event: Event| event.invocation.wrapping_sub(1) / self.n_lanes;
        a.invocation != 0 && group(a) == group(b)
    }

    /// Whether two accesses are unordered.
    fn concurrent(self, before: Event, now: Event) -> bool {
        if before.invocation == 0 || before.invocation == now.invocation {
            return false;
        }
        !self.same_group(before, now) || before.epoch == now.epoch
    }

    fn races(self, before: Event, now: Event) -> bool {
        self.concurrent(before, now) && !(before.is_atomic && now.is_atomic)
    }
}

impl Cell {
    /// The write before the last may be of the same value, and changed nothing.
    fn races_of_read(&self, event: Event, order: Order) -> impl Iterator<Item = Event> {
        let changes = [self.writes[0], self.atomics[0], self.atomics[1]];
        changes.into_iter().filter(move |&change| order.races(change, event))
    }

    fn races_of_write(&self, event: Event, value: Option<u64>, order: Order) -> impl Iterator<Item = Event> {
        let changes_nothing = value.is_some() && value == self.value;
        let writes = self.writes.into_iter().filter(move |_| !changes_nothing);
        let others = writes.chain(self.atomics).chain(self.reads);
        others.filter(move |&other| order.races(other, event))
    }
}

/// Adds an access to the last two of its kind.
fn note(last: &mut [Event; 2], event: Event, order: Order) {
    if order.concurrent(last[0], event) {
        last[1] = last[0];
    }
    last[0] = event;
}
