//! One dispatch: a grid of workgroups, cut into chunks that threads take in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::emit::context::{Context, DONE, SCRATCH_SIZE, Slot, Stop};
use super::emit::{Code, Rest};
use super::images::ImageView;
use super::instrumentation::schedule::Order;
use super::instrumentation::shared::Stamps;
use super::instrumentation::{Bytes, Extent, Memory, Sites, Watch, Written};
use super::subgroups::{Ended, LaneScheduler, Step};
use super::tiers::Chosen;
use crate::profile::LineCounts;
use crate::{Finding, Instrument, Result, Sampler};

/// Work below this many instructions is not worth a chunk of its own.
const MIN_CHUNK_COST: u64 = 20_000;
/// Upper bound of a chunk's cost, so that threads poll the interrupt flag.
const MAX_CHUNK_COST: u64 = 50_000_000;
/// Minimum number of chunks for each thread, so that a slow thread does not delay the others.
const CHUNKS_PER_THREAD: u64 = 16;
/// Target time of a chunk: long compared with taking it, short compared with a dispatch that uses threads.
const CHUNK_TIME: Duration = Duration::from_micros(100);
/// Work below this many instructions stays on the calling thread.
const MIN_SHARED_COST: u64 = 100_000;

/// State of a dispatch that threads share.
pub struct Job {
    /// Set before the first thread works.
    chosen: Option<Chosen>,
    /// Whether `chosen` is right for further runs, too.
    is_final: bool,
    scheduler: Option<Arc<LaneScheduler>>,
    slots: SmallVec<[Slot; 4]>,
    ranges: Vec<Slot>,
    images: Vec<ImageView>,
    samplers: Vec<Sampler>,
    push: SmallVec<[u64; 8]>,
    groups: [u32; 3],
    frame_size: usize,
    shared_size: usize,
    clears_shared: bool,
    interrupt: Arc<AtomicBool>,
    watch: Option<Watch>,
    /// The order of workgroups, if it is shuffled.
    order: Option<Order>,
    local_size: [u32; 3],
    n_groups: u64,
    /// Workgroups in a chunk: minimum and maximum.
    least: u64,
    most: u64,
    /// The first workgroup that no thread has taken.
    next: AtomicU64,
    /// The status that stopped the dispatch, and the workgroup in which it did.
    status: AtomicI32,
    stopped_in: AtomicU64,
    /// The regions at which lanes waited that cannot reconverge, if that stopped the dispatch.
    diverged: AtomicU64,
    /// A lane that waited before the first of them, and one before the second.
    diverged_lanes: AtomicU64,
    cost: u64,
}

// SAFETY: the slots point into buffers that stay allocated until the dispatch has ended, and only compiled
// code accesses them. Kernels with data races give unspecified values, as on every device.
unsafe impl Send for Job {}
// SAFETY: as above; all other fields are `Sync` themselves.
unsafe impl Sync for Job {}

/// The inputs of a dispatch.
pub struct JobSpec<'a> {
    pub scheduler: Option<Arc<LaneScheduler>>,
    pub slots: SmallVec<[Slot; 4]>,
    /// Every buffer of the device, if the code uses physical addresses.
    pub ranges: Vec<Slot>,
    pub images: Vec<ImageView>,
    pub samplers: Vec<Sampler>,
    pub push: &'a [u8],
    pub groups: [u32; 3],
    pub frame_size: usize,
    pub shared_size: usize,
    /// Whether shared memory is zeroed at the start of each workgroup.
    pub clears_shared: bool,
    /// Estimated instructions of one workgroup.
    pub group_cost: u64,
    pub n_threads: u64,
    pub interrupt: Arc<AtomicBool>,
    /// Seed that shuffles the order of workgroups and lanes, if any.
    pub seed: Option<u64>,
    pub local_size: [u32; 3],
}

impl Job {
    /// `None` for an empty grid.
    pub fn new(spec: JobSpec<'_>) -> Option<Job> {
        let n_groups = spec.groups.iter().map(|&n| u64::from(n)).try_fold(1u64, u64::checked_mul);
        // More than 2^64 workgroups never finish, so the count may be too small.
        let n_groups = n_groups.unwrap_or(u64::MAX / 2);
        if n_groups == 0 {
            return None;
        }
        let fair = n_groups / (spec.n_threads * CHUNKS_PER_THREAD);
        let least = (MIN_CHUNK_COST / spec.group_cost.max(1)).max(1);
        Some(Job {
            chosen: None,
            is_final: false,
            scheduler: spec.scheduler,
            slots: spec.slots,
            ranges: spec.ranges,
            images: spec.images,
            samplers: spec.samplers,
            push: whole_words(spec.push),
            groups: spec.groups,
            frame_size: spec.frame_size,
            shared_size: spec.shared_size,
            clears_shared: spec.clears_shared,
            interrupt: spec.interrupt,
            watch: None,
            order: spec.seed.map(|seed| Order::new(seed, n_groups, spec.local_size)),
            local_size: spec.local_size,
            n_groups,
            least,
            most: fair.min(MAX_CHUNK_COST / spec.group_cost.max(1)).max(least),
            next: AtomicU64::new(0),
            status: AtomicI32::new(DONE),
            stopped_in: AtomicU64::new(0),
            diverged: AtomicU64::new(0),
            diverged_lanes: AtomicU64::new(0),
            cost: spec.group_cost.saturating_mul(n_groups),
        })
    }

    /// Changes the buffers and push constants of a dispatch that has ended, for the next one of the same pipeline
    /// and with the same groups.
    pub fn renew(&mut self, slots: SmallVec<[Slot; 4]>, push: &[u8]) {
        let push = whole_words(push);
        self.is_final &= push == self.push;
        (self.slots, self.push) = (slots, push);
    }

    pub fn groups(&self) -> [u32; 3] {
        self.groups
    }

    /// Instruments the dispatch.
    pub fn watch(&mut self, instrument: Instrument, sites: &Sites, written: Vec<Option<Written>>) {
        let memory = Memory {
            groups: self.groups,
            buffers: self.slots.iter().map(bytes).collect(),
            images: self.images.iter().map(ImageView::texels).collect(),
            written,
        };
        self.watch = Watch::new(instrument, sites, self.local_size, memory);
    }

    /// Prepares a run, the first or a further one. `choose` selects the code for push constants; it returns
    /// whether that is right for all further runs, too.
    pub fn begin(&mut self, choose: impl FnOnce(&[u8]) -> Result<(Chosen, bool)>) -> Result<()> {
        if !self.is_final {
            let (chosen, is_final) = choose(self.push())?;
            (self.chosen, self.is_final) = (Some(chosen), is_final);
        }
        *self.next.get_mut() = 0;
        *self.status.get_mut() = DONE;
        Ok(())
    }

    fn chosen(&self) -> &Chosen {
        self.chosen.as_ref().expect("code is chosen before threads work")
    }

    pub fn n_groups(&self) -> u64 {
        self.n_groups
    }

    /// The push constants, rounded up to whole words.
    pub fn push(&self) -> &[u8] {
        // SAFETY: these are the words' own bytes, which are all initialised.
        unsafe { std::slice::from_raw_parts(self.push.as_ptr().cast(), size_of_val(&self.push[..])) }
    }

    /// Whether a thread that begins now would find work.
    pub fn has_more(&self) -> bool {
        self.status() == DONE && self.next.load(Ordering::Relaxed) < self.n_groups
    }

    pub fn wants_threads(&self) -> bool {
        self.cost >= MIN_SHARED_COST
            && self.n_groups > 1
            && self.watch.as_ref().is_none_or(Watch::takes_threads)
    }

    /// The status that stopped the dispatch. Valid when every thread has ended.
    pub fn status(&self) -> i32 {
        self.status.load(Ordering::Relaxed)
    }

    /// The findings. Valid when every thread has ended.
    pub fn findings(&self) -> Vec<Finding> {
        self.watch.as_ref().map_or(Vec::new(), Watch::findings)
    }

    /// The cost of each line. Valid when every thread has ended.
    pub fn costs(&self) -> Vec<LineCounts> {
        self.watch.as_ref().map_or(Vec::new(), Watch::costs)
    }

    /// Takes chunks until none is left. Any number of threads may call it at once.
    pub fn work(&self) {
        let mut watched = self.watch.as_ref().and_then(Watch::observation);
        let mut frame = lines_of(self.frame_size);
        let mut shared = lines_of(self.shared_size);
        let mut context = Context {
            zeros: [0; SCRATCH_SIZE],
            sink: [0; SCRATCH_SIZE],
            n_groups: self.groups,
            interrupt: Arc::as_ptr(&self.interrupt),
            buffers: self.slots.as_ptr(),
            ranges: self.ranges.as_ptr(),
            n_ranges: self.ranges.len(),
            images: self.images.as_ptr(),
            samplers: self.samplers.as_ptr(),
            push: self.push.as_ptr().cast(),
            frames: frame.as_mut_ptr().cast(),
            shared: shared.as_mut_ptr().cast(),
            scheduler: self.scheduler.as_ref().map_or(std::ptr::null(), Arc::as_ptr),
            diverged: [0; 2],
            diverged_lane: 0,
            order: [[1, 0]; 3],
            stamps: Stamps::default(),
            watched: self.watch.as_ref().map_or(std::ptr::null(), |watch| watch.watched.as_ptr()),
            observation: std::ptr::null_mut(),
        };
        if let (Some(watch), Some(observation)) = (&self.watch, &mut watched) {
            let shared = bytes(&Slot { base: context.shared, size: self.shared_size as u64 });
            let (buffers, written) = (self.slots.iter().map(bytes).collect(), watch.written.clone());
            let images = self.images.iter().map(ImageView::texels).collect();
            let push = self.push.iter().flat_map(|word| word.to_ne_bytes()).collect();
            let extent = Extent { groups: self.groups, buffers, images, written, shared, push };
            observation.observer.begins(extent);
            context.observation = std::ptr::from_mut(observation);
        }
        self.chunks(&mut context);
        if let (Some(watch), Some(observation)) = (&self.watch, watched) {
            watch.end(observation);
        }
    }

    /// The cost of a workgroup is not known in advance. Each thread adapts its chunk size to the time of its
    /// last chunk.
    fn chunks(&self, context: &mut Context) {
        let mut n = self.least;
        let mut began = None;
        while self.status() == DONE {
            let first = self.next.fetch_add(n, Ordering::Relaxed);
            if first >= self.n_groups {
                return;
            }
            // A single chunk needs no time.
            if first + n < self.n_groups {
                began.get_or_insert_with(Instant::now);
            }
            let status = match self.interrupt.load(Ordering::Relaxed) {
                true => INTERRUPTED_BETWEEN,
                false => self.rows(context, first, (first + n).min(self.n_groups)),
            };
            if status != DONE {
                self.stop(status);
            }
            if first + n >= self.n_groups {
                return;
            }
            let ended = Instant::now();
            n = self.next_chunk(n, began.map_or(Duration::ZERO, |began| ended - began));
            began = Some(ended);
        }
    }

    /// Size of a thread's next chunk, after one of `n` workgroups took some time.
    fn next_chunk(&self, n: u64, took: Duration) -> u64 {
        match took {
            took if took < CHUNK_TIME / 2 => (2 * n).min(self.most),
            took if took > CHUNK_TIME * 2 => (n / 2).max(1),
            _ => n,
        }
    }

    /// Keeps the first status, unless that one has no line.
    fn stop(&self, status: i32) {
        match status {
            INTERRUPTED_BETWEEN => {
                let _ = self.status.compare_exchange(DONE, status, Ordering::Relaxed, Ordering::Relaxed);
            }
            _ => self.status.store(status, Ordering::Relaxed),
        }
    }

    /// Runs workgroups `first .. end`, counted along x, then y, then z.
    fn rows(&self, context: &mut Context, first: u64, end: u64) -> i32 {
        let mut at = first;
        while at < end {
            let group = self.order.as_ref().map_or(at, |order| order.group(at));
            let [x, y, z] = self.place(group);
            if let Some(order) = &self.order {
                context.order = order.lanes(group);
            }
            // Workgroups run one by one if their lanes wait for each other, or if shared memory has
            // initializers or is instrumented. Code in one region must also see zeros there, as split code
            // would.
            let is_watched = self.watch.is_some() && self.shared_size > 0;
            let shares = self.scheduler.is_some() && self.shared_size > 0;
            let parts = self.chosen().code.entries.len() > 1;
            let alone = parts || shares || self.order.is_some() || is_watched || self.clears_shared;
            let most = if alone { 1 } else { end - at };
            let n = most.min(u64::from(self.groups[0] - x));
            // SAFETY: `work` gave the context shared memory of this size.
            unsafe { context.shared.write_bytes(0, self.shared_size) };
            if is_watched {
                group_begins(context);
            }
            let place = [x, y, z];
            let status = match &self.scheduler {
                Some(scheduler) if self.chosen().code.lanes_diverge => {
                    self.run_scheduled(scheduler, context, place)
                }
                _ => self.row(context, place, x + n as u32),
            };
            if status != DONE {
                self.stopped_in.store(group, Ordering::Relaxed);
                let [one, other] = context.diverged.map(u64::from);
                self.diverged.store(one << 32 | other, Ordering::Relaxed);
                let lanes = u64::from(self.first_lane(context)) << 32 | u64::from(context.diverged_lane);
                self.diverged_lanes.store(lanes, Ordering::Relaxed);
                return status;
            }
            at += n;
        }
        DONE
    }

    /// Runs a row of workgroups, of which the first ones may be wholly inside the domain.
    fn row(&self, context: &mut Context, [x, y, z]: [u32; 3], end_x: u32) -> i32 {
        let Chosen { code, inside } = self.chosen();
        let Some(inside) = inside.as_ref().filter(|inside| y < inside.groups[1] && z < inside.groups[2])
        else {
            return self.part_of_row(code, context, [x, y, z], end_x);
        };
        let split = inside.groups[0].clamp(x, end_x);
        let mut status = DONE;
        if x < split {
            status = self.part_of_row(&inside.code, context, [x, y, z], split);
        }
        if status == DONE && split < end_x {
            status = self.part_of_row(code, context, [split, y, z], end_x);
        }
        status
    }

    fn part_of_row(&self, code: &Code, context: &mut Context, first: [u32; 3], end_x: u32) -> i32 {
        match code.rest {
            Some(rest) => self.groups_as_lanes(code, rest, context, first, end_x),
            None => self.regions(code, context, first, end_x),
        }
    }

    fn regions(&self, code: &Code, context: &mut Context, [x, y, z]: [u32; 3], end_x: u32) -> i32 {
        let mut region = 0;
        loop {
            // SAFETY: the code came from `Compiler`, which tests every access against the slots, the push
            // constants, the frames and the shared memory of this context. All of them have the sizes that
            // the kernel declares, and outlive the call.
            let status = unsafe { (code.entries[region])(context, x, end_x, y, z) };
            if status <= DONE {
                context.diverged = context.diverged.map(|region| code.numbers[region as usize] as u32);
                return status;
            }
            if self.interrupt.load(Ordering::Relaxed) {
                context.diverged = [code.numbers[status as usize] as u32; 2];
                return INTERRUPTED_BETWEEN;
            }
            barrier_opens(context);
            region = status as usize;
        }
    }

    /// Runs a row of workgroups, each of which is one lane of a SIMD group. Whole SIMD groups begin at
    /// multiples of their width. The workgroups before and after them run one by one.
    fn groups_as_lanes(
        &self,
        code: &Code,
        rest: Rest,
        context: &mut Context,
        [x, y, z]: [u32; 3],
        end_x: u32,
    ) -> i32 {
        let first = x.checked_next_multiple_of(rest.width).unwrap_or(end_x).min(end_x);
        let last = (end_x - end_x % rest.width).max(first);
        let parts = [(rest.entry, x, first), (code.entries[0], first, last), (rest.entry, last, end_x)];
        for (entry, from, to) in parts {
            if from < to {
                // SAFETY: as in `regions`; whole SIMD groups end at `to`.
                let status = unsafe { entry(&mut *context, from, to, y, z) };
                if status != DONE {
                    return status;
                }
            }
        }
        DONE
    }

    /// Runs a workgroup whose lanes may diverge and wait at different places.
    fn run_scheduled(&self, scheduler: &LaneScheduler, context: &mut Context, [x, y, z]: [u32; 3]) -> i32 {
        let frames = context.frames;
        let enter = |step: Step| {
            let region = match step {
                Step::Region(region) => region,
                Step::Ordered => {
                    barrier_opens(context);
                    return DONE;
                }
            };
            if self.interrupt.load(Ordering::Relaxed) {
                context.diverged = [region as u32; 2];
                return INTERRUPTED_BETWEEN;
            }
            // SAFETY: as in `regions`.
            unsafe { (self.chosen().code.entries[region])(&mut *context, x, x + 1, y, z) }
        };
        // SAFETY: `work` gave the context memory for all lanes, and this thread alone uses it.
        match unsafe { scheduler.run(frames, enter) } {
            Ended::Done => DONE,
            Ended::Stopped(status) => status,
            Ended::Diverged(regions, lane) => {
                (context.diverged, context.diverged_lane) = (regions, lane);
                Stop::Diverged.status()
            }
        }
    }

    /// The coordinates of a workgroup.
    fn place(&self, n: u64) -> [u32; 3] {
        let [n_x, n_y, _] = self.groups.map(u64::from);
        let (row, x) = (n / n_x, n % n_x);
        [x as u32, (row % n_y) as u32, (row / n_y) as u32]
    }

    /// The regions at which lanes waited that cannot reconverge, or that were interrupted.
    pub fn diverged(&self) -> [usize; 2] {
        let diverged = self.diverged.load(Ordering::Relaxed);
        [diverged >> 32, diverged & 0xffff_ffff].map(|region| region as usize)
    }

    /// For each of these regions, the index of a lane that waited there.
    pub fn diverged_lanes(&self) -> [u32; 2] {
        let lanes = self.diverged_lanes.load(Ordering::Relaxed);
        [(lanes >> 32) as u32, lanes as u32]
    }

    /// The first lane in the order of this workgroup. Where lanes may wait at different places, it is lane 0.
    fn first_lane(&self, context: &Context) -> u32 {
        if self.order.is_none() || self.scheduler.is_some() && self.chosen().code.lanes_diverge {
            return 0;
        }
        let [x, y, z]: [u32; 3] = std::array::from_fn(|axis| context.order[axis][1] % self.local_size[axis]);
        (z * self.local_size[1] + y) * self.local_size[0] + x
    }

    /// The workgroup in which the dispatch was stopped.
    pub fn stopped_in(&self) -> [u32; 3] {
        self.place(self.stopped_in.load(Ordering::Relaxed))
    }
}

/// A cache line: SIMD groups store whole vectors in the lanes' memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine {
    _bytes: [u8; 64],
}

/// The address range of a bound buffer.
fn bytes(slot: &Slot) -> Bytes {
    Bytes { start: slot.base as u64, size: slot.size }
}

fn lines_of(n_bytes: usize) -> Vec<CacheLine> {
    vec![CacheLine { _bytes: [0; 64] }; n_bytes.div_ceil(size_of::<CacheLine>())]
}

/// Notifies the observer, if there is one.
fn group_begins(context: &mut Context) {
    // SAFETY: as in `barrier_opens`.
    if let Some(observation) = unsafe { context.observation.as_mut() } {
        observation.observer.group_begins();
        context.stamps = observation.observer.stamps();
    }
}

/// Notifies the observer, if there is one.
fn barrier_opens(context: &mut Context) {
    // SAFETY: a non-null pointer is the observation that `work` made for this thread. No compiled code is
    // running that could use it at the same time.
    if let Some(observation) = unsafe { context.observation.as_mut() } {
        observation.observer.barrier_opens();
        context.stamps = observation.observer.stamps();
    }
}

/// Stopped between workgroups, or at a wait before the region in [`Job::diverged`]. 0 is none.
pub const INTERRUPTED_BETWEEN: i32 = i32::MIN;

fn whole_words(bytes: &[u8]) -> SmallVec<[u64; 8]> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}
