//! The checked mode: probes that are reached where a kernel does something wrong. Each line is told of once for
//! each thing that it does wrong, with the first invocation that does it and how many do.

use rustc_hash::FxHashMap;

use super::memory::Touch;
use super::shadow::{Event, Reach, Shadow};
use super::{Bytes, Extent, Observer, ProbeSite, SiteKind, Sites};
use crate::cpu::lane::{Array, Space};
use crate::findings::{Arithmetic, Before, Element, Int};
use crate::{Access, Check, Checks, Finding, FindingKind, Invocation, SourceLine};

/// What is wrong where a probe is reached. Its values are those that each kind names, in order.
#[derive(Clone, Debug)]
pub enum Site {
    /// Index and length of each axis, in 64 bits.
    Index {
        array: Option<String>,
        access: Access,
        kinds: Vec<IntKind>,
    },
    /// The dividend.
    Division {
        number: IntKind,
    },
    /// The amount.
    Shift {
        amount: IntKind,
        width: u32,
    },
    /// The float.
    Conversion {
        from: FloatKind,
        to: IntKind,
    },
    /// Always reached: the components of what should be the same in all of the workgroup.
    Uniform,
    Overflow {
        op: Arithmetic,
        number: IntKind,
    },
    /// The float, and those that it was made of.
    Birth {
        number: FloatKind,
    },
    /// Always reached: the address, and what is stored there. `offset` is added to the address.
    Access {
        touch: Touch,
        place: Where,
        offset: u32,
        size: u32,
    },
}

/// Memory that invocations share.
#[derive(Clone, Copy, Debug)]
pub enum Where {
    Shared,
    Buffer(u32),
    /// The address tells.
    Anywhere,
}

/// How the bits of an int are to be read. Narrow ones lie in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub struct IntKind {
    pub bits: u32,
    pub signed: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum FloatKind {
    F32,
    F64,
}

impl IntKind {
    fn read(self, bits: u64) -> Int {
        let unused = 64 - self.bits;
        match self.signed {
            true => Int::Signed(((bits << unused) as i64) >> unused),
            false => Int::Unsigned(bits << unused >> unused),
        }
    }
}

impl FloatKind {
    fn read(self, bits: u64) -> f64 {
        match self {
            FloatKind::F32 => f32::from_bits(bits as u32).into(),
            FloatKind::F64 => f64::from_bits(bits),
        }
    }
}

/// Collects what the probes of one dispatch tell.
pub struct Checker {
    checks: Checks,
    sites: Sites,
    /// Where the finding of each probe is in the list.
    found: Vec<Option<usize>>,
    findings: Vec<Finding>,
    uniforms: Vec<UniformSite>,
    accesses: Accesses,
}

/// What is known of the accesses to memory that invocations share.
struct Accesses {
    shadow: Shadow,
    extent: Extent,
    local_size: [u32; 3],
    /// Barriers so far.
    epoch: u32,
    /// The finding of each race: an array and two lines, the lower one first.
    races: FxHashMap<RaceKey, usize>,
}

type RaceKey = (Option<String>, [Option<(String, u32)>; 2], Reach);

/// What a workgroup's invocations told of one value that should be the same in all of them, time after time.
#[derive(Default)]
struct UniformSite {
    group: Option<[u32; 3]>,
    /// Each time's value, and who told it first.
    told: Vec<(Vec<u64>, Invocation)>,
    /// How often each invocation was here, by its local id.
    times: FxHashMap<[u32; 3], usize>,
}

impl UniformSite {
    /// Who told another value before.
    fn differs(&mut self, invocation: Invocation, values: &[u64]) -> Option<(Vec<u64>, Invocation)> {
        if self.group != Some(invocation.group) {
            *self = UniformSite { group: Some(invocation.group), ..UniformSite::default() };
        }
        let time = self.times.entry(invocation.local).or_default();
        let told = self.told.get(*time).cloned();
        *time += 1;
        match told {
            Some(told) => Some(told).filter(|(known, _)| known != values),
            None => {
                self.told.push((values.to_vec(), invocation));
                None
            }
        }
    }
}

impl Checker {
    pub fn new(checks: Checks, sites: Sites, local_size: [u32; 3]) -> Checker {
        let found = vec![None; sites.all.len()];
        let uniforms = sites.all.iter().map(|_| UniformSite::default()).collect();
        let accesses = Accesses::new(&sites, local_size);
        Checker { checks, sites, found, findings: Vec::new(), uniforms, accesses }
    }

    fn find(&mut self, probe: u32, invocation: Invocation, kind: impl FnOnce(&Site) -> FindingKind) {
        if let Some(known) = self.found[probe as usize] {
            self.findings[known].count += 1;
            return;
        }
        let ProbeSite { kind: SiteKind::Check(site), line } = &self.sites.all[probe as usize] else { return };
        self.found[probe as usize] = Some(self.findings.len());
        self.findings.push(Finding { kind: kind(site), line: line.clone(), invocation, count: 1 });
    }

    fn uniform(&mut self, probe: u32, invocation: Invocation, values: &[u64]) {
        if let Some((known, other)) = self.uniforms[probe as usize].differs(invocation, values) {
            let differ = values.iter().zip(&known).find(|(value, known)| value != known);
            let bits = differ.map_or([values[0], known[0]], |(&value, &known)| [value, known]);
            self.find(probe, invocation, |_| FindingKind::NotUniform { bits, other });
        }
    }

    fn access(&mut self, probe: u32, invocation: Invocation, values: &[u64]) {
        let ProbeSite { kind: SiteKind::Check(site), line } = &self.sites.all[probe as usize] else { return };
        let &Site::Access { touch, place, offset, size } = site else {
            unreachable!("the caller has seen that it is an access")
        };
        let address = values[0].wrapping_add(u64::from(offset));
        let Some(space) = self.accesses.space_of(place, (address, u64::from(size))) else { return };
        let reach = if space == Space::Shared { Reach::Workgroup } else { Reach::Dispatch };
        let event = self.accesses.event(probe, invocation, touch);
        let what = (touch, values.get(1).copied());
        let met = self.accesses.shadow.touch((address, u64::from(size)), event, what, reach);
        if reach == Reach::Workgroup && touch.reads() && met.is_new && self.checks.has(Check::Uninitialised) {
            let element = self.accesses.element(&self.sites.arrays, space, address);
            self.find(probe, invocation, |_| FindingKind::Uninitialised(element));
            return;
        }
        let Some(other) = met.race_with.filter(|_| self.checks.has(Check::Race)) else { return };
        let before = &self.sites.all[other.probe as usize];
        let line_of = |line: &Option<SourceLine>| line.as_ref().map(|line| (line.file.clone(), line.line));
        let mut lines = [line_of(line), line_of(&before.line)];
        lines.sort();
        let element = self.accesses.element(&self.sites.arrays, space, address);
        let before_invocation = self.accesses.invocation(other);
        let reach =
            if before_invocation.group == invocation.group { Reach::Workgroup } else { Reach::Dispatch };
        let key = (element.array.clone(), lines, reach);
        if let Some(&known) = self.accesses.races.get(&key) {
            self.findings[known].count += 1;
            return;
        }
        self.accesses.races.insert(key, self.findings.len());
        let SiteKind::Check(before_site) = &before.kind else { return };
        let before = Before {
            access: access_of(before_site),
            line: before.line.clone(),
            invocation: before_invocation,
            beside_atomic: other.is_atomic != touch.is_atomic(),
            barrier_between: self.sites.has_barrier_between(line.as_ref(), before.line.as_ref()),
        };
        let kind = FindingKind::Race { element, access: access_of(site), before };
        self.findings.push(Finding { kind, line: line.clone(), invocation, count: 1 });
    }
}

fn access_of(site: &Site) -> Access {
    match site {
        Site::Access { touch: Touch::Read | Touch::AtomicRead, .. } => Access::Read,
        Site::Access { touch: Touch::Write | Touch::AtomicWrite, .. } => Access::Write,
        _ => Access::ReadWrite,
    }
}

impl Accesses {
    fn new(sites: &Sites, local_size: [u32; 3]) -> Accesses {
        let sizes = sites.all.iter().filter_map(|site| match site.kind {
            SiteKind::Check(Site::Access { size, .. }) => Some(u64::from(size)),
            _ => None,
        });
        let nothing = Bytes { start: 0, size: 0 };
        Accesses {
            shadow: Shadow::new(sizes.min().unwrap_or(4).min(4), local_size.iter().product()),
            extent: Extent { groups: [0; 3], buffers: Vec::new(), shared: nothing },
            local_size,
            epoch: 0,
            races: FxHashMap::default(),
        }
    }

    /// The space that an access lies in; `None` where it is out of range, or in memory of the lane's own.
    fn space_of(&self, place: Where, (address, size): (u64, u64)) -> Option<Space> {
        let is_in = |bytes: &Bytes| {
            let offset = address.wrapping_sub(bytes.start);
            offset < bytes.size && bytes.size - offset >= size
        };
        let shared = || is_in(&self.extent.shared).then_some(Space::Shared);
        let buffer =
            |buffer: u32| is_in(&self.extent.buffers[buffer as usize]).then_some(Space::Buffer(buffer));
        match place {
            Where::Shared => shared(),
            Where::Buffer(at) => buffer(at),
            Where::Anywhere => shared().or_else(|| (0..self.extent.buffers.len() as u32).find_map(buffer)),
        }
    }

    fn event(&self, probe: u32, invocation: Invocation, touch: Touch) -> Event {
        let along = |at: [u32; 3], n: [u32; 3]| {
            (at[2].wrapping_mul(n[1]).wrapping_add(at[1])).wrapping_mul(n[0]).wrapping_add(at[0])
        };
        let n_lanes: u32 = self.local_size.iter().product();
        let group = along(invocation.group, self.extent.groups);
        let lane = along(invocation.local, self.local_size);
        let invocation = group.wrapping_mul(n_lanes).wrapping_add(lane).wrapping_add(1);
        Event { invocation, epoch: self.epoch, probe, is_atomic: touch.is_atomic() }
    }

    fn invocation(&self, event: Event) -> Invocation {
        let n_lanes: u32 = self.local_size.iter().product();
        let at = |n: u32, [x, y, _]: [u32; 3]| [n % x, n / x % y, n / x / y];
        let (group, lane) = ((event.invocation - 1) / n_lanes, (event.invocation - 1) % n_lanes);
        Invocation::new(at(group, self.extent.groups), at(lane, self.local_size), self.local_size)
    }

    /// What lies at an address of a space.
    fn element(&self, arrays: &[Array], space: Space, address: u64) -> Element {
        let base = match space {
            Space::Buffer(buffer) => self.extent.buffers[buffer as usize].start,
            _ => self.extent.shared.start,
        };
        let offset = address - base;
        let array =
            arrays.iter().find(|array| array.space == space && (array.start..array.end).contains(&offset));
        let index = array.and_then(|array| {
            let flat = (offset - array.start) / array.element.filter(|&size| size > 0)?;
            Some(if array.axes.is_empty() { vec![flat] } else { unflattened(flat, &array.axes) })
        });
        Element {
            array: array.and_then(|array| array.name.clone()),
            index: index.unwrap_or_default(),
            is_shared: space == Space::Shared,
        }
    }
}

fn unflattened(mut flat: u64, axes: &[u64]) -> Vec<u64> {
    let mut index: Vec<u64> = axes
        .iter()
        .rev()
        .map(|&len| {
            let at = flat % len.max(1);
            flat /= len.max(1);
            at
        })
        .collect();
    index.reverse();
    index
}

impl Observer for Checker {
    fn begins(&mut self, extent: Extent) {
        self.accesses.extent = extent;
    }

    fn barrier_opens(&mut self) {
        self.accesses.epoch = self.accesses.epoch.wrapping_add(1);
    }

    fn reached(&mut self, probe: u32, invocation: Invocation, values: &[u64]) {
        let SiteKind::Check(site) = &self.sites.all[probe as usize].kind else { return };
        match site {
            Site::Access { .. } => self.access(probe, invocation, values),
            Site::Uniform => self.uniform(probe, invocation, values),
            _ => self.find(probe, invocation, |site| kind(site, values)),
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let mut merged: Vec<Finding> = Vec::new();
        let found = std::mem::take(&mut self.findings);
        for finding in found.iter().filter(|finding| !is_part_of_race(finding, &found)).cloned() {
            let same = merged.iter_mut().find(|known| {
                known.line.as_ref().map(place) == finding.line.as_ref().map(place)
                    && known.invocation == finding.invocation
                    && is_same(&known.kind, &finding.kind)
            });
            match same {
                Some(known) => merge(known, finding),
                None => merged.push(finding),
            }
        }
        merged
    }
}

fn place(line: &SourceLine) -> (&str, u32) {
    (&line.file, line.line)
}

/// Whether something is read before it is written only because nothing orders the two.
fn is_part_of_race(finding: &Finding, all: &[Finding]) -> bool {
    let FindingKind::Uninitialised(Element { array, .. }) = &finding.kind else { return false };
    all.iter().any(|other| match &other.kind {
        FindingKind::Race { element, before, .. } => {
            element.array == *array && (other.line == finding.line || before.line == finding.line)
        }
        _ => false,
    })
}

/// Whether two findings of a line are one mistake: an element that is read and written.
fn is_same(a: &FindingKind, b: &FindingKind) -> bool {
    match (a, b) {
        (
            FindingKind::OutOfBounds { array: a, index: i, .. },
            FindingKind::OutOfBounds { array: b, index: j, .. },
        ) => a == b && i == j,
        _ => false,
    }
}

fn merge(known: &mut Finding, other: Finding) {
    known.count = known.count.max(other.count);
    if let (FindingKind::OutOfBounds { access, .. }, FindingKind::OutOfBounds { access: other, .. }) =
        (&mut known.kind, &other.kind)
        && access != other
    {
        *access = Access::ReadWrite;
    }
}

fn kind(site: &Site, values: &[u64]) -> FindingKind {
    match site {
        Site::Index { array, access, kinds } => {
            let axes = || values.chunks(2).zip(kinds);
            FindingKind::OutOfBounds {
                array: array.clone(),
                index: axes().map(|(pair, kind)| kind.read(pair[0])).collect(),
                shape: axes().map(|(pair, _)| pair[1]).collect(),
                access: *access,
            }
        }
        Site::Division { number } => FindingKind::DivisionByZero { dividend: number.read(values[0]) },
        Site::Shift { amount, width } => {
            FindingKind::ShiftAmount { amount: amount.read(values[0]), width: *width }
        }
        Site::Conversion { from, to } => {
            FindingKind::Conversion { value: from.read(values[0]), bits: to.bits, signed: to.signed }
        }
        Site::Overflow { op, number } => {
            let [a, b] = [values[0], values[1]].map(|bits| number.read(bits));
            FindingKind::Overflow { op: *op, a, b, bits: number.bits }
        }
        Site::Birth { number } => {
            let values: Vec<f64> = values.iter().map(|&bits| number.read(bits)).collect();
            FindingKind::Birth { value: values[0], of: values[1..].to_vec() }
        }
        Site::Uniform | Site::Access { .. } => unreachable!("what they tell is compared first"),
    }
}
