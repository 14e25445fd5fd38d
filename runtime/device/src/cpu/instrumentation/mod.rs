//! What is watched while a kernel runs. A pass, or lowering itself, puts [`Op::Instrument`](super::lane::Op::Instrument)s
//! into the lane IR, each with a number; [`Kernel::probes`](super::lane::Kernel::probes) says what the numbers
//! stand for. Compiled code tells an [`Observer`] of each probe that it reaches, and the dispatch tells it where
//! workgroups and the parts of them between barriers begin. Findings come out.
//!
//! Observers change nothing: a kernel with probes has the results of the same kernel without.
//! Each thread of a dispatch has an observer of its own, which sees whole workgroups. Where one must see all of
//! them, the dispatch runs on one thread.

mod axes;
pub mod checked;
mod copies;
mod found;
pub mod memory;
mod own;
mod paths;
pub mod profile;
mod races;
pub mod schedule;
mod shadow;
pub mod shared;
mod written;

use std::sync::{Arc, Mutex, PoisonError};

use self::axes::AxisLen;
use self::found::Found;
use self::own::Axes;
use self::paths::Paths;
use self::shared::Stamps;
pub use self::written::Written;
use super::images::Texels;
use super::lane::simd::{Across, MAX_WIDTH};
use super::lane::{Array, Kernel, Site, SiteKind, Where};
use super::module::Module;
use crate::findings::ArrayName;
use crate::profile::LineCounts;
use crate::{Check, Checks, Finding, Instrument, Invocation, Schedule, SourceLine};

/// The sites of a loaded pipeline, by the numbers of their probes, and what they may name.
#[derive(Clone, Default)]
pub struct Sites {
    pub all: Arc<[Site<Option<SourceLine>>]>,
    pub arrays: Arc<[Array]>,
    /// Of each array, where its axes behind the first have their lengths.
    pub axes: Arc<[Vec<AxisLen>]>,
    /// Of each buffer, then of each image, along which axes invocations lie whose elements of it are their own.
    pub own: Arc<[Option<Axes>]>,
    pub n_buffers: usize,
    pub images: Arc<[Option<ArrayName>]>,
    pub paths: Arc<Paths>,
}

impl Sites {
    /// The number of a buffer or an image, counted in this order.
    fn slot(&self, place: Where) -> Option<usize> {
        match place {
            Where::Buffer(buffer) => Some(buffer as usize),
            Where::Image(image) => Some(self.n_buffers + image as usize),
            Where::Shared | Where::Anywhere => None,
        }
    }
}

/// Looks at what probes tell, for one thread of a dispatch.
pub trait Observer: Send {
    /// A lane came to a probe, with these bits: ints and booleans zero-extended, floats of 32 bits as they are.
    fn reached(&mut self, site_id: u32, invocation: Invocation, values: &[u64]);

    /// The lanes of a gang came to a probe.
    fn reached_by_lanes(&mut self, _probe: u32, _lanes: &Lanes<'_>) {
        unreachable!("only observers that take SIMD groups watch code that runs in them")
    }

    /// The dispatch is about to begin.
    fn begins(&mut self, _extent: Extent) {}

    /// Another workgroup that has shared memory is about to begin.
    fn group_begins(&mut self) {}

    /// The lanes of a workgroup that ran up to a barrier go on behind it.
    fn barrier_opens(&mut self) {}

    /// What compiled code may note of shared memory by itself, until the next barrier or workgroup.
    fn stamps(&mut self) -> Stamps {
        Stamps::default()
    }

    /// What was found so far.
    fn found(&mut self) -> Found {
        Found::default()
    }

    /// What each line cost, where that was counted.
    fn costs(&mut self) -> Vec<LineCounts> {
        Vec::new()
    }
}

/// Where a dispatch has its memory, and how many workgroups it has.
#[derive(Clone, Default)]
pub struct Extent {
    pub groups: [u32; 3],
    pub buffers: Vec<Bytes>,
    pub images: Vec<Texels>,
    /// Of each buffer, then of each image, what was written, if not all of it.
    pub written: Vec<Option<Written>>,
    pub shared: Bytes,
    pub push: Vec<u8>,
}

/// What a dispatch is about to meet.
pub struct Memory {
    pub groups: [u32; 3],
    pub buffers: Vec<Bytes>,
    pub images: Vec<Texels>,
    pub written: Vec<Option<Written>>,
}

/// Memory by its address.
#[derive(Clone, Copy, Default)]
pub struct Bytes {
    pub start: u64,
    pub size: u64,
}

/// The observer that the code of a thread reaches through its context.
pub struct Observation {
    pub observer: Box<dyn Observer>,
    pub local_size: [u32; 3],
}

/// Lanes of a gang at a probe, with what each of them tells.
pub struct Lanes<'a> {
    /// The place of the first one.
    pub group: [u32; 3],
    pub local: [u32; 3],
    pub local_size: [u32; 3],
    pub across: Across,
    /// Those that came to the probe, the first the lowest bit.
    pub there: u32,
    /// Columns whose values have 8 bytes, and those that hold booleans, the first the lowest bit.
    pub wide: u32,
    pub truths: u32,
    pub columns: &'a [Column],
}

/// A value of all lanes. ORDER: compiled code stores vectors here.
#[repr(C, align(16))]
pub struct Column {
    /// Lane after lane, of 8 or of 4 bytes.
    pub bytes: [u8; 8 * MAX_WIDTH as usize],
}

pub fn sites(kernel: &Kernel, module: &Module<'_>) -> Sites {
    let site = |site: &Site| Site { kind: site.kind.clone(), line: module.line(site.line) };
    Sites {
        all: kernel.sites.iter().map(site).collect(),
        arrays: kernel.arrays.clone().into(),
        axes: axes::find(kernel, module).into(),
        own: own::find(kernel).into(),
        n_buffers: kernel.buffers.len(),
        images: kernel.images.iter().map(|&slot| Some(module.image_name(slot))).collect(),
        paths: Paths::find(kernel, module).into(),
    }
}

/// Who watches a dispatch: an observer for each thread that works on it.
pub struct Watch {
    instrument: Instrument,
    sites: Sites,
    local_size: [u32; 3],
    /// Of each buffer, then of each image, whether accesses to it are to be told.
    pub watched: Vec<bool>,
    pub written: Vec<Option<Written>>,
    /// Those whose thread has done its work.
    ended: Mutex<Vec<Observation>>,
}

impl Watch {
    /// `None` where nobody watches.
    pub fn new(instrument: Instrument, sites: &Sites, local_size: [u32; 3], memory: Memory) -> Option<Watch> {
        let (sites, ended) = (sites.clone(), Mutex::default());
        let watched = match instrument {
            Instrument::None => return None,
            Instrument::Profile => Vec::new(),
            Instrument::Checked(checks) => watched(checks, &sites, local_size, &memory),
        };
        let written = memory.written;
        Some(Watch { instrument, sites, local_size, watched, written, ended })
    }

    /// Whether workgroups may be seen by different observers, in no order.
    pub fn takes_threads(&self) -> bool {
        match self.instrument {
            Instrument::None => true,
            Instrument::Profile => false,
            Instrument::Checked(checks) => {
                let overlaps = |site| is_shared_by_groups(&self.sites, site, &self.watched);
                checks.schedule == Schedule::InOrder && !self.sites.all.iter().any(overlaps)
            }
        }
    }

    /// For one thread.
    pub fn observation(&self) -> Option<Observation> {
        let (sites, local_size) = (self.sites.clone(), self.local_size);
        let observer: Box<dyn Observer> = match self.instrument {
            Instrument::None => return None,
            Instrument::Checked(checks) => Box::new(checked::Checker::new(checks, sites, local_size)),
            Instrument::Profile => Box::new(profile::Profiler::new(sites, local_size)),
        };
        Some(Observation { observer, local_size })
    }

    pub fn end(&self, observation: Observation) {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(observation);
    }

    /// What was found; asked when every thread has ended.
    pub fn findings(&self) -> Vec<Finding> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        found::combined(ended.iter_mut().map(|observation| observation.observer.found()))
    }

    /// What each line cost; asked when every thread has ended.
    pub fn costs(&self) -> Vec<LineCounts> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter_mut().flat_map(|observation| observation.observer.costs()).collect()
    }
}

/// The buffers, then the images, whose accesses may be mistakes: memory that the kernel writes, under whatever
/// name, or that has not been written wholly.
fn watched(checks: Checks, sites: &Sites, local_size: [u32; 3], memory: &Memory) -> Vec<bool> {
    let Memory { groups, buffers, images, written } = memory;
    let is_own = |axes: Axes| (0..3).all(|axis| axes[axis] || groups[axis] == 1 && local_size[axis] == 1);
    let all: Vec<Bytes> = buffers.iter().copied().chain(images.iter().map(Texels::bytes)).collect();
    let writes_to = |slot: usize| sites.all.iter().any(|site| may_write(sites, site, slot));
    let changed: Vec<bool> = (0..all.len()).map(writes_to).collect();
    let may_conflict = |a: usize, b: usize| match a == b {
        true => changed[a] && !sites.own[a].is_some_and(is_own),
        false => (changed[a] || changed[b]) && all[a].overlaps(&all[b]),
    };
    let may_race =
        |at: usize| checks.has(Check::DeviceRace) && (0..all.len()).any(|other| may_conflict(at, other));
    (0..all.len()).map(|at| may_race(at) || written.get(at).is_some_and(Option::is_some)).collect()
}

fn may_write(sites: &Sites, site: &Site<Option<SourceLine>>, slot: usize) -> bool {
    let SiteKind::Check(site) = &site.kind else { return false };
    site.access().is_some_and(|(touch, place)| {
        let is_there = match place {
            Where::Anywhere => slot < sites.n_buffers,
            place => sites.slot(place) == Some(slot),
        };
        touch.writes() && is_there
    })
}

/// Whether a probe tells of memory that other workgroups reach too.
fn is_shared_by_groups(sites: &Sites, site: &Site<Option<SourceLine>>, watched: &[bool]) -> bool {
    let SiteKind::Check(site) = &site.kind else { return false };
    site.access().is_some_and(|(_, place)| match sites.slot(place) {
        Some(slot) => watched[slot],
        None => place == Where::Anywhere,
    })
}

impl Bytes {
    /// Whether so many bytes at an address are all inside.
    pub fn has(&self, address: u64, size: u64) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.size && self.size - offset >= size
    }

    fn overlaps(&self, other: &Bytes) -> bool {
        self.start < other.start + other.size && other.start < self.start + self.size
    }
}

impl Lanes<'_> {
    pub fn each(&self) -> impl Iterator<Item = u32> + use<> {
        let there = self.there;
        (0..MAX_WIDTH).filter(move |lane| there >> lane & 1 == 1)
    }

    pub fn n_values(&self) -> usize {
        self.columns.len()
    }

    /// The bits of a value of a lane, as for [`Observer::reached`].
    pub fn value(&self, column: usize, lane: u32) -> u64 {
        let (bytes, lane) = (&self.columns[column].bytes, lane as usize);
        if self.wide >> column & 1 == 1 {
            return u64::from_ne_bytes(
                *bytes[8 * lane..].first_chunk().expect("a column has an element for each lane"),
            );
        }
        let bits = u32::from_ne_bytes(
            *bytes[4 * lane..].first_chunk().expect("a column has an element for each lane"),
        );
        match self.truths >> column & 1 {
            1 => u64::from(bits != 0),
            _ => bits.into(),
        }
    }

    pub fn invocation(&self, lane: u32) -> Invocation {
        let (mut group, mut local) = (self.group, self.local);
        match self.across {
            Across::Row => local[0] += lane,
            Across::Groups => group[0] += lane,
        }
        Invocation::new(group, local, self.local_size)
    }
}
