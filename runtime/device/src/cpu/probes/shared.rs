//! What is remembered of the memory of the workgroup that runs, as [`super::shadow`] remembers that of the device.
//!
//! Invocations, barriers and workgroups are all counted in stamps that only grow: each barrier and each workgroup
//! begins as many stamps as there are lanes, so one comparison tells "since the last barrier" or "by this
//! workgroup", and nothing is cleared in between.

use super::Bytes;
use super::memory::Touch;
use crate::cpu::lane::gangs::MAX_WIDTH;

/// Of each word the stamp of who touched it, 0 for nobody, and at which probe; [`ATOMIC`] is set there if all
/// of the access was done at once.
struct Stamps {
    at: Vec<i32>,
    probes: Vec<i32>,
}

const ATOMIC: u32 = 1 << 31;

pub struct SharedShadow {
    writes: Stamps,
    atomics: Stamps,
    /// The last reads, and reads by another lane since the last barrier.
    reads: Stamps,
    others: Stamps,
    has_atomics: bool,
    memory: Bytes,
    n_words: u64,
    /// Bytes of a word, as a power of two.
    grain: u32,
    n_lanes: i32,
    /// The stamps of lane 0 in this workgroup's first epoch, and in this epoch.
    group: i32,
    epoch: i32,
    /// Words that this workgroup has not written.
    n_unwritten: u64,
}

/// An access of a lane before this one.
#[derive(Clone, Copy, Debug)]
pub struct Earlier {
    pub lane: u32,
    pub probe: u32,
}

/// What an access met.
#[derive(Default)]
pub struct Met {
    /// Nobody of the workgroup has written there.
    pub is_new: bool,
    pub race_with: Option<Earlier>,
}

/// Neighbouring lanes at neighbouring words of four bytes.
pub struct Row {
    /// The address of the first word, the number of the first lane, and which lanes are there, the first the
    /// lowest bit.
    pub address: u64,
    pub lane: u32,
    pub there: u32,
    pub probe: u32,
}

impl Stamps {
    fn new(n_words: u64) -> Stamps {
        let n_words = n_words as usize + LANES;
        Stamps { at: vec![0; n_words], probes: vec![0; n_words] }
    }

    fn get(&self, word: usize) -> (i32, u32) {
        (self.at[word], self.probes[word] as u32)
    }

    fn set(&mut self, word: usize, (at, probe): (i32, u32)) {
        (self.at[word], self.probes[word]) = (at, probe as i32);
    }
}

impl SharedShadow {
    /// `grain` is the size of the smallest access.
    pub fn new(memory: Bytes, grain: u64, n_lanes: u32) -> SharedShadow {
        let n_words = memory.size.div_ceil(grain);
        let stamps = || Stamps::new(n_words);
        SharedShadow {
            writes: stamps(),
            atomics: stamps(),
            reads: stamps(),
            others: stamps(),
            has_atomics: false,
            memory,
            n_words,
            grain: grain.trailing_zeros(),
            n_lanes: n_lanes as i32,
            group: 1,
            epoch: 1,
            n_unwritten: n_words,
        }
    }

    pub fn group_begins(&mut self) {
        self.barrier_opens();
        self.group = self.epoch;
        self.n_unwritten = self.n_words;
    }

    pub fn barrier_opens(&mut self) {
        if self.epoch > i32::MAX - 2 * self.n_lanes {
            self.count_anew();
        }
        self.epoch += self.n_lanes;
    }

    /// Whether there is memory that this workgroup has not written.
    pub fn has_unwritten(&self) -> bool {
        self.n_unwritten > 0
    }

    /// Stamps begin at the start again: all that counts of an old one is whether this workgroup made it.
    fn count_anew(&mut self) {
        let group = self.group;
        for stamps in [&mut self.writes, &mut self.atomics, &mut self.reads, &mut self.others] {
            stamps.at.iter_mut().for_each(|at| *at = i32::from(*at >= group));
        }
        (self.group, self.epoch) = (1, 1);
    }

    /// Notes an access of a lane to `size` bytes inside of the memory, and tells what it met. Whoever writes
    /// what is there already `changes` nothing.
    pub fn touch(
        &mut self,
        (address, size): (u64, u64),
        (lane, probe): (u32, u32),
        touch: Touch,
        changes: impl Fn() -> bool,
    ) -> Met {
        let mut met = Met::default();
        let offset = address - self.memory.start;
        let (first, last) = (offset >> self.grain, (offset + size - 1) >> self.grain);
        for word in first as usize..=last as usize {
            let is_new = self.writes.at[word] < self.group && self.atomics.at[word] < self.group;
            met.is_new |= is_new;
            let race = self.race(word, lane, touch, &changes);
            met.race_with = met.race_with.or(race);
            self.note(word, (lane, probe), touch);
            self.n_unwritten -= u64::from(is_new && touch.writes());
        }
        met
    }

    fn race(&self, word: usize, lane: u32, touch: Touch, changes: impl Fn() -> bool) -> Option<Earlier> {
        let (me, epoch) = (self.epoch + lane as i32, self.epoch);
        let races = |&(at, probe): &(i32, u32)| {
            at >= epoch && at != me && !(probe & ATOMIC != 0 && touch.is_atomic())
        };
        let write = Some(self.writes.get(word)).filter(races).filter(|_| !touch.writes() || changes());
        let atomic = || Some(self.atomics.get(word)).filter(races);
        let read = || [self.reads.get(word), self.others.get(word)].into_iter().find(races);
        let race = write.or_else(atomic).or_else(|| if touch.writes() { read() } else { None });
        race.map(|(at, probe)| Earlier { lane: (at - epoch) as u32, probe: probe & !ATOMIC })
    }

    fn note(&mut self, word: usize, (lane, probe): (u32, u32), touch: Touch) {
        let me = self.epoch + lane as i32;
        match (touch.writes(), touch.is_atomic()) {
            (true, true) => {
                self.has_atomics = true;
                self.atomics.set(word, (me, probe | ATOMIC));
            }
            (true, false) => self.writes.set(word, (me, probe)),
            (false, is_atomic) => {
                let before = self.reads.get(word);
                if before.0 >= self.epoch && before.0 != me {
                    self.others.set(word, before);
                }
                self.reads.set(word, (me, if is_atomic { probe | ATOMIC } else { probe }));
            }
        }
    }

    /// Notes plain reads or writes of a row, if they meet nothing: nobody else of this epoch, and no word that
    /// is read before it is written. Otherwise notes none of them, and tells so.
    pub fn touch_row(&mut self, row: &Row, touch: Touch) -> bool {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { self.touch_row_in_wide_vectors(row, touch) };
        }
        self.touch_words(row, touch)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn touch_row_in_wide_vectors(&mut self, row: &Row, touch: Touch) -> bool {
        self.touch_words(row, touch)
    }

    #[inline(always)]
    fn touch_words(&mut self, row: &Row, touch: Touch) -> bool {
        let offset = row.address.wrapping_sub(self.memory.start) >> self.grain;
        let end = offset.saturating_add(u64::from(32 - row.there.leading_zeros()));
        if self.has_atomics || self.grain != 2 || end > self.n_words {
            return false;
        }
        let me = self.epoch + row.lane as i32;
        let lanes = Lanes {
            first: offset as usize,
            me: std::array::from_fn(|i| me + i as i32),
            there: std::array::from_fn(|i| mask(row.there & 1 << i != 0)),
        };
        match touch.writes() {
            true => self.write_row(&lanes, row.probe),
            false => self.read_row(&lanes, row.probe),
        }
    }

    // All lanes do the same, and truths are masks: that becomes vector operations.

    #[inline(always)]
    fn read_row(&mut self, lanes: &Lanes, probe: u32) -> bool {
        let Lanes { first, me, there } = *lanes;
        let writes = *words(&mut self.writes.at, first);
        let is_new: Words = std::array::from_fn(|i| mask(writes[i] < self.group));
        if any(|i| there[i] & (is_new[i] | is_other(writes[i], me[i], self.epoch))) {
            return false;
        }
        let (at, probes) = (words(&mut self.reads.at, first), words(&mut self.reads.probes, first));
        let (before, before_probes) = (*at, *probes);
        *at = std::array::from_fn(|i| pick(there[i], me[i], before[i]));
        *probes = std::array::from_fn(|i| pick(there[i], probe as i32, before_probes[i]));
        let other: Words = std::array::from_fn(|i| there[i] & is_other(before[i], me[i], self.epoch));
        if any(|i| other[i]) {
            let (at, probes) = (words(&mut self.others.at, first), words(&mut self.others.probes, first));
            *at = std::array::from_fn(|i| pick(other[i], before[i], at[i]));
            *probes = std::array::from_fn(|i| pick(other[i], before_probes[i], probes[i]));
        }
        true
    }

    #[inline(always)]
    fn write_row(&mut self, lanes: &Lanes, probe: u32) -> bool {
        let Lanes { first, me, there } = *lanes;
        let (writes, reads) = (*words(&mut self.writes.at, first), *words(&mut self.reads.at, first));
        let others = *words(&mut self.others.at, first);
        let is_met = |i: usize| {
            let met = |at: i32| is_other(at, me[i], self.epoch);
            there[i] & (met(writes[i]) | met(reads[i]) | met(others[i]))
        };
        if any(is_met) {
            return false;
        }
        let (at, probes) = (words(&mut self.writes.at, first), words(&mut self.writes.probes, first));
        *at = std::array::from_fn(|i| pick(there[i], me[i], writes[i]));
        *probes = std::array::from_fn(|i| pick(there[i], probe as i32, probes[i]));
        if self.n_unwritten > 0 {
            let is_new = |i: usize| there[i] & mask(writes[i] < self.group);
            self.n_unwritten -= (0..LANES).filter(|&i| is_new(i) != 0).count() as u64;
        }
        true
    }
}

const LANES: usize = MAX_WIDTH as usize;

/// A word for each lane that a gang may have.
type Words = [i32; LANES];

/// Lanes of a row at words from `first` on, with their stamps.
struct Lanes {
    first: usize,
    me: Words,
    there: Words,
}

/// There are so many behind the last one.
#[inline(always)]
fn words(all: &mut [i32], first: usize) -> &mut Words {
    all[first..].first_chunk_mut().expect("there are spare words behind the last one")
}

#[inline(always)]
fn mask(is: bool) -> i32 {
    -i32::from(is)
}

#[inline(always)]
fn pick(mask: i32, yes: i32, no: i32) -> i32 {
    no ^ (yes ^ no) & mask
}

/// The mask of a stamp of this epoch that is another lane's.
#[inline(always)]
fn is_other(at: i32, me: i32, epoch: i32) -> i32 {
    mask(at >= epoch) & mask(at != me)
}

#[inline(always)]
fn any(mask: impl Fn(usize) -> i32) -> bool {
    (0..LANES).fold(0, |any, i| any | mask(i)) != 0
}

#[cfg(test)]
mod tests {
    use super::{Met, Row, SharedShadow};
    use crate::cpu::probes::Bytes;
    use crate::cpu::probes::memory::Touch;

    fn shadow() -> SharedShadow {
        SharedShadow::new(Bytes { start: 64, size: 16 }, 4, 4)
    }

    fn touch(shadow: &mut SharedShadow, lane: u32, touch: Touch) -> Met {
        shadow.touch((68, 4), (lane, 0), touch, || true)
    }

    #[test]
    fn barriers_order_and_workgroups_begin_anew() {
        let mut shadow = shadow();
        assert!(touch(&mut shadow, 0, Touch::Read).is_new);
        assert!(touch(&mut shadow, 1, Touch::Write).race_with.is_some());
        shadow.barrier_opens();
        let read = touch(&mut shadow, 2, Touch::Read);
        assert!(!read.is_new && read.race_with.is_none());
        shadow.group_begins();
        assert!(touch(&mut shadow, 2, Touch::Read).is_new);
    }

    #[test]
    fn rows_are_noted_where_they_meet_nothing() {
        let mut shadow = shadow();
        let row = |address| Row { address, lane: 0, there: 0b111, probe: 0 };
        assert!(!shadow.touch_row(&row(64), Touch::Read), "nobody wrote there");
        assert!(shadow.touch_row(&row(64), Touch::Write));
        assert!(shadow.touch_row(&row(64), Touch::Read), "each reads its own");
        assert!(!shadow.touch_row(&row(68), Touch::Read), "the next one wrote there");
        assert!(!shadow.touch_row(&row(72), Touch::Write), "it ends outside");
        shadow.barrier_opens();
        assert!(touch(&mut shadow, 3, Touch::Read).race_with.is_none());
        assert!(!shadow.touch_row(&row(64), Touch::Write), "lane 3 reads what lane 1 writes");
        assert_eq!(shadow.n_unwritten, 1);
    }

    #[test]
    fn stamps_may_run_out() {
        let mut shadow = shadow();
        touch(&mut shadow, 1, Touch::Write);
        (shadow.epoch, shadow.writes.at[1]) = (i32::MAX - 4, i32::MAX - 3);
        shadow.barrier_opens();
        let read = touch(&mut shadow, 2, Touch::Read);
        assert!(!read.is_new && read.race_with.is_none());
        shadow.group_begins();
        assert!(touch(&mut shadow, 2, Touch::Read).is_new);
    }
}
