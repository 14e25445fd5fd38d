//! Shadow memory of the running workgroup's shared memory, as [`super::shadow`] is for device memory.
//!
//! Each word has stamps of its last accesses. From its highest bits on, a stamp has the number of barriers so
//! far, the lane and the site. Barriers are counted over all workgroups. So one comparison decides "since the
//! last barrier" or "by this workgroup", and no stamps are cleared in between.
//!
//! SIMD code compares and sets the stamps of adjacent words itself, at the addresses in [`Stamps`]. It calls
//! this code where there may be something to report.

use super::Bytes;
use crate::cpu::lane::{CheckSite, Site, SiteKind, Touch, Where};

/// The bit layout of a kernel's stamps.
#[derive(Clone, Copy, Debug)]
pub struct StampForm {
    /// Log2 of the size of a word, which is that of the smallest access.
    pub grain: u32,
    /// The number of lowest bits, which are those of [`code`].
    pub code_bits: u32,
    /// Whether the kernel has atomic accesses.
    pub has_atomics: bool,
}

/// Limit of sites in stamps. With the largest workgroup, this leaves half of an `i32` for the number of
/// barriers.
pub const MAX_SITES: usize = 1 << 18;

/// The code of a plain access at a site. The lowest bit marks atomic ones.
pub fn code(site_id: u32) -> u32 {
    site_id << 1
}

const ATOMIC: u32 = 1;

impl StampForm {
    pub fn of<L>(sites: &[Site<L>]) -> StampForm {
        let touches = || {
            sites.iter().filter_map(|site| match site.kind {
                SiteKind::Check(CheckSite::Access {
                    touch,
                    place: Where::Shared | Where::Anywhere,
                    size,
                    ..
                }) => Some((touch, size)),
                _ => None,
            })
        };
        StampForm {
            grain: touches().map(|(_, size)| size).min().unwrap_or(4).min(4).trailing_zeros(),
            code_bits: code(sites.len() as u32).max(1).next_power_of_two().trailing_zeros(),
            has_atomics: touches().any(|(touch, _)| touch.is_atomic()),
        }
    }
}

/// The addresses of stamps, and their meaning until the next barrier. ORDER: compiled code uses the offsets
/// of these fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    /// The distance from a word of shared memory to its stamp, for words of four bytes.
    pub writes: i64,
    pub other_writes: i64,
    pub atomics: i64,
    pub other_atomics: i64,
    pub reads: i64,
    pub others: i64,
    /// The lowest stamp of this workgroup, and the lowest since the last barrier.
    pub group: i32,
    pub epoch: i32,
    /// Nonzero if this workgroup may have left memory unwritten.
    pub unwritten: u32,
}

pub struct SharedShadow {
    form: StampForm,
    /// The last writes (0 for none), and those by another lane since the last barrier.
    writes: Vec<i32>,
    other_writes: Vec<i32>,
    /// The same for atomic changes.
    atomics: Vec<i32>,
    other_atomics: Vec<i32>,
    /// The same for reads.
    reads: Vec<i32>,
    others: Vec<i32>,
    memory: Bytes,
    n_lanes: u32,
    /// As in [`Stamps`].
    group: i32,
    epoch: i32,
    /// This workgroup has written all words before this one.
    written: usize,
}

/// An earlier access by a lane.
#[derive(Clone, Copy, Debug)]
pub struct Earlier {
    pub lane: u32,
    pub site_id: u32,
}

/// What an access conflicts with.
#[derive(Default)]
pub struct Conflicts {
    /// No lane of the workgroup has written the word.
    pub is_new: bool,
    pub races_with: Vec<Earlier>,
}

impl SharedShadow {
    pub fn new(memory: Bytes, form: StampForm, n_lanes: u32) -> SharedShadow {
        let no_stamps = || vec![0; memory.size.div_ceil(1 << form.grain) as usize];
        SharedShadow {
            form,
            writes: no_stamps(),
            other_writes: no_stamps(),
            atomics: no_stamps(),
            other_atomics: no_stamps(),
            reads: no_stamps(),
            others: no_stamps(),
            memory,
            n_lanes,
            group: 1,
            epoch: 1 << form.code_bits,
            written: 0,
        }
    }

    pub fn group_begins(&mut self) {
        self.barrier_opens();
        self.group = self.epoch;
        self.written = 0;
    }

    pub fn barrier_opens(&mut self) {
        let step = (self.n_lanes << self.form.code_bits) as i32;
        if self.epoch > i32::MAX - 2 * step {
            self.restart_stamps();
        }
        self.epoch += step;
    }

    /// The stamps that code may compare and set until the next barrier.
    pub fn stamps(&mut self) -> Stamps {
        let from = self.memory.start as i64;
        let lead = |stamps: &mut Vec<i32>| (stamps.as_mut_ptr() as i64).wrapping_sub(from);
        Stamps {
            writes: lead(&mut self.writes),
            other_writes: lead(&mut self.other_writes),
            atomics: lead(&mut self.atomics),
            other_atomics: lead(&mut self.other_atomics),
            reads: lead(&mut self.reads),
            others: lead(&mut self.others),
            group: self.group,
            epoch: self.epoch,
            unwritten: 1,
        }
    }

    /// Whether this workgroup left memory unwritten. The search continues where it stopped last.
    pub fn has_unwritten(&mut self) -> bool {
        let [writes, atomics] = [&self.writes, &self.atomics].map(|stamps| stamps[self.written..].chunks(16));
        // Testing all words without an early exit lets the compiler use vectors.
        let is_written = |(writes, atomics): &(&[i32], &[i32])| {
            let words = writes.iter().zip(*atomics);
            words.fold(true, |all, (&write, &atomic)| all & (write.max(atomic) >= self.group))
        };
        self.written +=
            writes.zip(atomics).take_while(is_written).map(|(writes, _)| writes.len()).sum::<usize>();
        self.written < self.writes.len()
    }

    /// Restarts the numbering of stamps. Of old stamps, only "by this workgroup" is preserved.
    fn restart_stamps(&mut self) {
        let group = self.group;
        let plain = [&mut self.writes, &mut self.other_writes, &mut self.reads, &mut self.others];
        for stamps in plain.into_iter().chain([&mut self.atomics, &mut self.other_atomics]) {
            stamps.iter_mut().for_each(|at| *at = i32::from(*at >= group));
        }
        (self.group, self.epoch) = (1, 1 << self.form.code_bits);
    }

    /// Records an access of a lane to `size` bytes, and returns its conflicts. A write of the old value
    /// `changes` nothing.
    pub fn touch(
        &mut self,
        (address, size): (u64, u64),
        (lane, site_id): (u32, u32),
        touch: Touch,
        changes: impl Fn() -> bool,
    ) -> Conflicts {
        let mut conflicts = Conflicts::default();
        let offset = address - self.memory.start;
        let (first, last) = (offset >> self.form.grain, (offset + size - 1) >> self.form.grain);
        for word in first as usize..=last as usize {
            conflicts.is_new |= self.writes[word].max(self.atomics[word]) < self.group;
            conflicts.races_with.extend(self.races(word, lane, touch, &changes));
            self.note(word, (lane, site_id), touch);
        }
        conflicts
    }

    /// Records an atomic access of a lane to one word, unless it needs a report. It needs none if the
    /// workgroup has written the word, and no plain access happened since the last barrier. Returns whether
    /// it was recorded.
    pub fn note_atomic(
        &mut self,
        (address, size): (u64, u64),
        (lane, site_id): (u32, u32),
        touch: Touch,
    ) -> bool {
        let offset = address - self.memory.start;
        let word = (offset >> self.form.grain) as usize;
        if size != 1 << self.form.grain || offset & (size - 1) != 0 {
            return false;
        }
        let (write, atomic) = (self.writes[word], self.atomics[word]);
        let plain = write.max(self.reads[word]).max(self.others[word]);
        if plain >= self.epoch || write.max(atomic) < self.group || !touch.writes() {
            return false;
        }
        let me = self.epoch + (lane << self.form.code_bits | code(site_id) | ATOMIC) as i32;
        if atomic >= self.epoch && (atomic ^ me) >> self.form.code_bits != 0 {
            self.other_atomics[word] = atomic;
        }
        self.atomics[word] = me;
        true
    }

    fn races(
        &self,
        word: usize,
        lane: u32,
        touch: Touch,
        changes: impl Fn() -> bool,
    ) -> impl Iterator<Item = Earlier> {
        let races = move |&at: &i32| {
            at >= self.epoch
                && self.earlier(at).lane != lane
                && !(at as u32 & ATOMIC != 0 && touch.is_atomic())
        };
        let writes = match touch.writes() {
            true => [self.writes[word], self.other_writes[word]],
            // The write before the last may be of the same value, and changed nothing.
            false => [self.writes[word], 0],
        };
        let is_changed = !writes.iter().any(races) || !touch.writes() || changes();
        let writes = writes.into_iter().filter(move |_| is_changed);
        let reads = [self.reads[word], self.others[word]].into_iter().filter(move |_| touch.writes());
        let others = writes.chain([self.atomics[word], self.other_atomics[word]]).chain(reads);
        others.filter(races).map(|at| self.earlier(at))
    }

    /// The lane and site of a stamp since the last barrier.
    fn earlier(&self, at: i32) -> Earlier {
        let (since, bits) = ((at - self.epoch) as u32, self.form.code_bits);
        Earlier { lane: since >> bits, site_id: (since & ((1 << bits) - 1)) >> 1 }
    }

    fn note(&mut self, word: usize, (lane, site_id): (u32, u32), touch: Touch) {
        let atomic = if touch.is_atomic() { ATOMIC } else { 0 };
        let me = self.epoch + (lane << self.form.code_bits | code(site_id) | atomic) as i32;
        let is_others = |before: i32| before >= self.epoch && self.earlier(before).lane != lane;
        match (touch.writes(), touch.is_atomic()) {
            (true, true) => {
                if is_others(self.atomics[word]) {
                    self.other_atomics[word] = self.atomics[word];
                }
                self.atomics[word] = me;
            }
            (true, false) => {
                if is_others(self.writes[word]) {
                    self.other_writes[word] = self.writes[word];
                }
                self.writes[word] = me;
            }
            (false, _) => {
                if is_others(self.reads[word]) {
                    self.others[word] = self.reads[word];
                }
                self.reads[word] = me;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Conflicts, SharedShadow, StampForm};
    use crate::cpu::instrumentation::Bytes;
    use crate::cpu::lane::Touch;

    fn shadow() -> SharedShadow {
        let form = StampForm { grain: 2, code_bits: 3, has_atomics: true };
        SharedShadow::new(Bytes { start: 64, size: 16 }, form, 4)
    }

    fn touch(shadow: &mut SharedShadow, lane: u32, touch: Touch) -> Conflicts {
        shadow.touch((68, 4), (lane, 2), touch, || true)
    }

    #[test]
    fn barriers_order_and_workgroups_begin_anew() {
        let mut shadow = shadow();
        assert!(touch(&mut shadow, 0, Touch::Read).is_new);
        let races = touch(&mut shadow, 1, Touch::Write).races_with;
        assert_eq!(races.iter().map(|race| (race.lane, race.site_id)).collect::<Vec<_>>(), [(0, 2)]);
        shadow.barrier_opens();
        let read = touch(&mut shadow, 2, Touch::Read);
        assert!(!read.is_new && read.races_with.is_empty());
        shadow.group_begins();
        assert!(touch(&mut shadow, 2, Touch::Read).is_new);
    }

    #[test]
    fn atomics_race_with_plain_accesses_alone() {
        let mut shadow = shadow();
        touch(&mut shadow, 0, Touch::AtomicChange);
        assert!(touch(&mut shadow, 1, Touch::AtomicRead).races_with.is_empty());
        assert_eq!(touch(&mut shadow, 2, Touch::Read).races_with.first().map(|race| race.lane), Some(0));
    }

    #[test]
    fn an_atomic_of_ones_own_hides_none_of_others() {
        let mut shadow = shadow();
        touch(&mut shadow, 0, Touch::AtomicChange);
        touch(&mut shadow, 1, Touch::AtomicChange);
        assert_eq!(touch(&mut shadow, 1, Touch::Read).races_with.first().map(|race| race.lane), Some(0));
    }

    #[test]
    fn an_atomic_is_noted_where_it_conflicts_with_nothing() {
        let mut shadow = shadow();
        let note =
            |shadow: &mut SharedShadow, lane| shadow.note_atomic((68, 4), (lane, 2), Touch::AtomicChange);
        assert!(!note(&mut shadow, 0), "no lane has written there");
        touch(&mut shadow, 0, Touch::Write);
        assert!(!note(&mut shadow, 1), "a plain write is as late");
        shadow.barrier_opens();
        assert!(note(&mut shadow, 0) && note(&mut shadow, 1));
        assert_eq!(touch(&mut shadow, 1, Touch::Read).races_with.first().map(|race| race.lane), Some(0));
        assert!(!note(&mut shadow, 2), "a plain read is as late");
    }

    #[test]
    fn what_was_written_is_known_at_the_next_barrier() {
        let mut shadow = shadow();
        for word in 0..4 {
            assert!(shadow.has_unwritten());
            shadow.touch((64 + 4 * word, 4), (0, 0), Touch::Write, || true);
        }
        assert!(!shadow.has_unwritten());
        shadow.group_begins();
        assert!(shadow.has_unwritten());
    }

    #[test]
    fn stamps_may_run_out() {
        let mut shadow = shadow();
        touch(&mut shadow, 1, Touch::Write);
        let late = ((i32::MAX >> 3) - 7) << 3;
        (shadow.epoch, shadow.writes[1]) = (late, late + 8);
        shadow.barrier_opens();
        assert!(shadow.epoch < late, "they begin again");
        let read = touch(&mut shadow, 2, Touch::Read);
        assert!(!read.is_new && read.races_with.is_empty());
        shadow.group_begins();
        assert!(touch(&mut shadow, 2, Touch::Read).is_new);
    }
}
