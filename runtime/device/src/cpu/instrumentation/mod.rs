//! Instrumentation of kernels. Lowering and passes add [`Op::Instrument`](super::lane::Op::Instrument)s to
//! the lane IR, each with a site id. [`Kernel::sites`](super::lane::Kernel::sites) describes the sites.
//! Compiled code calls an [`Observer`] at each site that it reaches. The dispatch notifies it when workgroups
//! begin and barriers open. The results are findings and profiles.
//!
//! Instrumentation does not change the results of a kernel. Each thread of a dispatch has its own observer,
//! which sees whole workgroups. If an observer must see all workgroups, the dispatch runs on one thread.

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

/// The sites of a loaded pipeline by id, and what their findings may name.
#[derive(Clone, Default)]
pub struct Sites {
    pub all: Arc<[Site<Option<SourceLine>>]>,
    pub arrays: Arc<[Array]>,
    /// For each array, the places of its axes' lengths after the first.
    pub axes: Arc<[Vec<AxisLen>]>,
    /// For each buffer, then for each image: the axes along which each invocation accesses only its own
    /// elements.
    pub own: Arc<[Option<Axes>]>,
    pub n_buffers: usize,
    pub images: Arc<[Option<ArrayName>]>,
    pub paths: Arc<Paths>,
}

impl Sites {
    /// The index of a buffer or an image, counted in this order.
    fn slot(&self, place: Where) -> Option<usize> {
        match place {
            Where::Buffer(buffer) => Some(buffer as usize),
            Where::Image(image) => Some(self.n_buffers + image as usize),
            Where::Shared | Where::Anywhere => None,
        }
    }
}

/// Observes one thread of a dispatch.
pub trait Observer: Send {
    /// A lane reached a site with these values. Ints and booleans are zero-extended; `f32` is its bits.
    fn reached(&mut self, site_id: u32, invocation: Invocation, values: &[u64]);

    /// Lanes of a SIMD group reached a site.
    fn reached_by_lanes(&mut self, _site_id: u32, _lanes: &Lanes<'_>) {
        unreachable!("only observers that take SIMD groups watch code that runs in them")
    }

    /// The dispatch begins.
    fn begins(&mut self, _extent: Extent) {}

    /// The next workgroup begins, which has shared memory.
    fn group_begins(&mut self) {}

    /// All lanes of a workgroup have arrived at a barrier, and continue.
    fn barrier_opens(&mut self) {}

    /// Stamps of shared memory that compiled code may use and set until the next barrier or workgroup.
    fn stamps(&mut self) -> Stamps {
        Stamps::default()
    }

    /// Takes the findings so far.
    fn found(&mut self) -> Found {
        Found::default()
    }

    /// The cost of each line, if it was counted.
    fn costs(&mut self) -> Vec<LineCounts> {
        Vec::new()
    }
}

/// The memory and the workgroups of a dispatch.
#[derive(Clone, Default)]
pub struct Extent {
    pub groups: [u32; 3],
    pub buffers: Vec<Bytes>,
    pub images: Vec<Texels>,
    /// For each buffer, then for each image, the written bytes; `None` if all are.
    pub written: Vec<Option<Written>>,
    pub shared: Bytes,
    pub push: Vec<u8>,
}

/// The memory of a dispatch before it runs.
pub struct Memory {
    pub groups: [u32; 3],
    pub buffers: Vec<Bytes>,
    pub images: Vec<Texels>,
    pub written: Vec<Option<Written>>,
}

/// A range of addresses.
#[derive(Clone, Copy, Default)]
pub struct Bytes {
    pub start: u64,
    pub size: u64,
}

/// The observer that the code of a thread calls through its context.
pub struct Observation {
    pub observer: Box<dyn Observer>,
    pub local_size: [u32; 3],
}

/// Lanes of a SIMD group at a site, with the values of each.
pub struct Lanes<'a> {
    /// The coordinates of the first lane.
    pub group: [u32; 3],
    pub local: [u32; 3],
    pub local_size: [u32; 3],
    pub across: Across,
    /// The lanes that reached the site; the first is the lowest bit.
    pub there: u32,
    /// Columns with values of 8 bytes, and those with booleans; the first is the lowest bit.
    pub wide: u32,
    pub truths: u32,
    pub columns: &'a [Column],
}

/// A value of all lanes. ORDER: compiled code stores vectors here.
#[repr(C, align(16))]
pub struct Column {
    /// Lane after lane, 8 or 4 bytes each.
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

/// The observers of a dispatch, one for each thread.
pub struct Watch {
    instrument: Instrument,
    sites: Sites,
    local_size: [u32; 3],
    /// For each buffer, then for each image, whether its accesses are observed.
    pub watched: Vec<bool>,
    pub written: Vec<Option<Written>>,
    /// The observers of threads that have finished.
    ended: Mutex<Vec<Observation>>,
}

impl Watch {
    /// `None` without instrumentation.
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

    /// Whether different observers may see the workgroups, in any order.
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

    /// The observer for one thread.
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

    /// The findings. Valid when every thread has ended.
    pub fn findings(&self) -> Vec<Finding> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        found::combined(ended.iter_mut().map(|observation| observation.observer.found()))
    }

    /// The cost of each line. Valid when every thread has ended.
    pub fn costs(&self) -> Vec<LineCounts> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter_mut().flat_map(|observation| observation.observer.costs()).collect()
    }
}

/// The buffers, then the images, whose accesses may be mistakes. Those are memory that the kernel writes,
/// also through an alias, or that is partly uninitialised.
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

/// Whether a site reports accesses to memory that other workgroups access, too.
fn is_shared_by_groups(sites: &Sites, site: &Site<Option<SourceLine>>, watched: &[bool]) -> bool {
    let SiteKind::Check(site) = &site.kind else { return false };
    site.access().is_some_and(|(_, place)| match sites.slot(place) {
        Some(slot) => watched[slot],
        None => place == Where::Anywhere,
    })
}

impl Bytes {
    /// Whether all of these bytes are in range.
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

    /// The bits of a lane's value, as for [`Observer::reached`].
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
