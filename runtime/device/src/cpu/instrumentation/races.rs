//! Checks accesses to memory that invocations share: which array they access, and whether they race or read
//! uninitialised memory.

use rustc_hash::FxHashSet;

use super::found::{Found, Mistake};
use super::shadow::{Event, Shadow};
use super::shared::{Earlier, SharedShadow, StampForm, Stamps};
use super::{Bytes, Extent, Lanes, Sites, axes};
use crate::cpu::lane::simd::Across;
use crate::cpu::lane::{Array, CheckSite, Site, SiteKind, Space, Touch, Where};
use crate::findings::{ArrayName, Before, Element, Launch, Part, SharedMemory};
use crate::{Access, Check, Checks, Finding, FindingKind, Invocation, SourceLine};

/// The accesses of one thread.
pub struct Accesses {
    checks: Checks,
    device: Shadow,
    /// Indexed by the first byte of each texel.
    texels: Shadow,
    shared: SharedShadow,
    form: StampForm,
    extent: Extent,
    local_size: [u32; 3],
    /// Loads of uninitialised memory that are only copied, by invocation and site.
    carried: FxHashSet<(Invocation, u32)>,
    /// Number of barriers so far.
    epoch: u32,
}

/// An earlier access.
struct Other {
    site_id: u32,
    invocation: Invocation,
    /// The address that both access.
    address: u64,
}

impl Accesses {
    pub fn new(checks: Checks, sites: &Sites, local_size: [u32; 3]) -> Accesses {
        let n_lanes = local_size.iter().product();
        let nothing = Bytes { start: 0, size: 0 };
        let form = StampForm::of(&sites.all);
        Accesses {
            checks,
            device: Shadow::new(device_grain(sites), n_lanes),
            texels: Shadow::new(1, n_lanes),
            shared: SharedShadow::new(nothing, form, n_lanes),
            form,
            extent: Extent::default(),
            local_size,
            carried: FxHashSet::default(),
            epoch: 0,
        }
    }

    pub fn begin(&mut self, extent: Extent) {
        self.shared = SharedShadow::new(extent.shared, self.form, self.local_size.iter().product());
        self.extent = extent;
    }

    pub fn group_begins(&mut self) {
        self.shared.group_begins();
    }

    pub fn barrier_opens(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.shared.barrier_opens();
    }

    /// What code may note of shared memory by itself.
    pub fn stamps(&mut self) -> Stamps {
        let unwritten = self.checks.has(Check::SharedUninitialised) && self.shared.has_unwritten();
        Stamps { unwritten: unwritten.into(), ..self.shared.stamps() }
    }

    /// Records atomic accesses of neighbouring lanes to shared memory that need no report. Returns the
    /// remaining lanes.
    pub fn note_atomics(&mut self, site: &CheckSite, site_id: u32, lanes: &Lanes<'_>) -> u32 {
        let &CheckSite::Access { touch, place: Where::Shared, offset, size, .. } = site else {
            return lanes.there;
        };
        if !touch.is_atomic() || lanes.across != Across::Row {
            return lanes.there;
        }
        let first = along(lanes.local, self.local_size);
        let (size, memory) = (u64::from(size), self.extent.shared);
        let is_noted = |lane: &u32| {
            let range = (lanes.value(0, *lane).wrapping_add(offset.into()), size);
            memory.has(range.0, size) && self.shared.note_atomic(range, (first + lane, site_id), touch)
        };
        lanes.there & !lanes.each().filter(is_noted).fold(0, |noted, lane| noted | 1 << lane)
    }

    /// Records the access of a site, whose values are the address and the stored value.
    pub fn note(
        &mut self,
        sites: &Sites,
        site_id: u32,
        invocation: Invocation,
        values: &[u64],
        found: &mut Found,
    ) {
        let (touch, place, offset, size, copied_from) = match sites.all[site_id as usize].kind {
            SiteKind::Check(CheckSite::Access { touch, place: Where::Image(image), .. }) => {
                return self.note_texel(
                    sites,
                    (site_id, invocation),
                    (image, values[0]),
                    (touch, None),
                    found,
                );
            }
            SiteKind::Check(CheckSite::Access { touch, place, offset, size, copied_from }) => {
                (touch, place, offset, size, copied_from)
            }
            SiteKind::Check(CheckSite::TexelAccess { touch, image }) => {
                let texels = self.extent.images[image as usize];
                let place = std::array::from_fn(|axis| values[axis] as i32);
                let Some(address) = texels.address(place) else { return };
                let words = values[3..].first_chunk::<4>();
                let stored = words.map(|words| texels.stored(words.map(|word| word as u32)));
                return self.note_texel(
                    sites,
                    (site_id, invocation),
                    (image, address),
                    (touch, stored),
                    found,
                );
            }
            _ => unreachable!("the caller has seen that it is an access"),
        };
        let range = (values[0].wrapping_add(u64::from(offset)), u64::from(size));
        let stored = values.get(1).copied();
        let carried = copied_from.is_some_and(|load| self.carried.contains(&(invocation, load)));
        match self.space_of(place, range) {
            Some(Space::Shared) => {
                self.note_shared(sites, site_id, invocation, (range, touch, stored), found)
            }
            Some(space) => {
                let is_new = self.reads_unwritten(self.slot_of(space), range, (touch, carried));
                if touch == Touch::Copy {
                    self.carry((invocation, site_id), is_new);
                } else if is_new {
                    let element = self.element(sites, space, range.0);
                    self.uninitialised(sites, (site_id, invocation), element, found);
                }
                if !self.checks.has(Check::DeviceRace) {
                    return;
                }
                let event = self.event(site_id, invocation, touch);
                let conflicts = self.device.touch(range, event, (touch, stored));
                let others = conflicts.into_iter().map(|other| self.other(other, range.0)).collect();
                self.races(
                    sites,
                    (site_id, invocation),
                    others,
                    || self.element(sites, space, range.0),
                    found,
                );
            }
            None => {}
        }
    }

    fn note_texel(
        &mut self,
        sites: &Sites,
        (site_id, invocation): (u32, Invocation),
        (image, address): (u32, u64),
        does: (Touch, Option<u64>),
        found: &mut Found,
    ) {
        let texels = self.extent.images[image as usize];
        // Atomics outside the image have no effect.
        if !texels.bytes().has(address, 1) {
            return;
        }
        let element = || Element {
            array: sites.images[image as usize].clone(),
            path: vec![Part::Index(texels.place(address))],
            memory: SharedMemory::Image,
        };
        let slot = (sites.n_buffers + image as usize, texels.bytes().start);
        if self.reads_unwritten(Some(slot), (address, texels.size()), (does.0, false)) {
            self.uninitialised(sites, (site_id, invocation), element(), found);
        }
        if !self.checks.has(Check::DeviceRace) {
            return;
        }
        let event = self.event(site_id, invocation, does.0);
        let conflicts = self.texels.touch((address, 1), event, does);
        let others = conflicts.into_iter().map(|other| self.other(other, address)).collect();
        self.races(sites, (site_id, invocation), others, element, found);
    }

    fn note_shared(
        &mut self,
        sites: &Sites,
        site_id: u32,
        invocation: Invocation,
        (range, touch, stored): ((u64, u64), Touch, Option<u64>),
        found: &mut Found,
    ) {
        let lane = self.lane(invocation);
        // SAFETY: the range is inside the shared memory, which only this thread uses.
        let changes = || stored.is_none_or(|stored| unsafe { differs(range, stored) });
        let conflicts = self.shared.touch(range, (lane, site_id), touch, changes);
        if touch == Touch::Copy {
            self.carry((invocation, site_id), conflicts.is_new);
        } else if touch.reads() && conflicts.is_new && self.checks.has(Check::SharedUninitialised) {
            let element = self.element(sites, Space::Shared, range.0);
            self.uninitialised(sites, (site_id, invocation), element, found);
            return;
        }
        if !self.checks.has(Check::SharedRace) {
            return;
        }
        let [x, y, _] = self.local_size;
        let other = |Earlier { lane, site_id }: Earlier| {
            let local = [lane % x, lane / x % y, lane / x / y];
            let invocation = Invocation::new(invocation.group, local, self.local_size);
            Other { site_id, invocation, address: range.0 }
        };
        let others = conflicts.races_with.into_iter().map(other).collect();
        self.races(
            sites,
            (site_id, invocation),
            others,
            || self.element(sites, Space::Shared, range.0),
            found,
        );
    }

    /// The index and the start of a space in device memory.
    fn slot_of(&self, space: Space) -> Option<(usize, u64)> {
        let Space::Buffer(buffer) = space else { return None };
        Some((buffer as usize, self.extent.buffers[buffer as usize].start))
    }

    /// Records whether a copying load read uninitialised memory.
    fn carry(&mut self, load: (Invocation, u32), is_new: bool) {
        match is_new {
            true => self.carried.insert(load),
            false => self.carried.remove(&load),
        };
    }

    /// Whether an access reads uninitialised bytes of a buffer or an image. It also marks bytes as written,
    /// or as uninitialised where a copy stores such bytes.
    fn reads_unwritten(
        &self,
        slot: Option<(usize, u64)>,
        (address, size): (u64, u64),
        (touch, carried): (Touch, bool),
    ) -> bool {
        let Some((slot, start)) = slot else { return false };
        let Some(written) = &self.extent.written[slot] else { return false };
        let bytes = address - start..address - start + size;
        let is_new = touch.reads() && !written.has(bytes.clone());
        match touch.writes() {
            true if carried => written.forget(bytes),
            true => written.note(bytes),
            false => {}
        }
        is_new && self.checks.has(Check::DeviceUninitialised)
    }

    fn uninitialised(
        &self,
        sites: &Sites,
        (site_id, invocation): (u32, Invocation),
        element: Element,
        found: &mut Found,
    ) {
        found.add(Mistake::At(site_id), invocation, || Finding {
            kind: FindingKind::Uninitialised(element),
            line: sites.all[site_id as usize].line.clone(),
            invocation,
            count: 1,
            launch: Launch::default(),
        });
    }

    fn other(&self, event: Event, address: u64) -> Other {
        Other { site_id: event.site_id, invocation: self.invocation(event), address }
    }

    /// Reports a race with each line among the other accesses.
    fn races(
        &self,
        sites: &Sites,
        now: (u32, Invocation),
        others: Vec<Other>,
        element: impl Fn() -> Element,
        found: &mut Found,
    ) {
        let line = |other: &Other| &sites.all[other.site_id as usize].line;
        let mut lines = Vec::new();
        for other in others {
            if !lines.contains(&line(&other)) {
                lines.push(line(&other));
                self.race(sites, now, other, element(), found);
            }
        }
    }

    fn race(
        &self,
        sites: &Sites,
        (site_id, invocation): (u32, Invocation),
        other: Other,
        element: Element,
        found: &mut Found,
    ) {
        let [now, before] = [site_id, other.site_id].map(|site_id| &sites.all[site_id as usize]);
        let (array, in_group) = (element.array.clone(), other.invocation.group == invocation.group);
        let mistake = Mistake::Race { site_id, array, before: before.line.clone(), in_group };
        found.add(mistake, invocation, || {
            let unsynchronised = sites.paths.unsynchronised(site_id, other.site_id);
            let before = Before {
                access: access_of(before),
                alias: self
                    .array_of(before, sites, other.address)
                    .filter(|name| element.array.as_ref() != Some(name)),
                line: before.line.clone(),
                invocation: other.invocation,
                beside_atomic: is_atomic(before) != is_atomic(now),
                divergence: sites.paths.divergence(site_id, other.site_id),
                callers: sites.paths.callers(site_id, other.site_id),
                in_one_round: unsynchronised.in_one_round,
                in_rounds: unsynchronised.in_rounds,
            };
            let kind = FindingKind::Race { element, access: access_of(now), before };
            Finding { kind, line: now.line.clone(), invocation, count: 1, launch: Launch::default() }
        });
    }

    /// The name that a site has for the array or image at an address.
    fn array_of(&self, site: &Site<Option<SourceLine>>, sites: &Sites, address: u64) -> Option<ArrayName> {
        let SiteKind::Check(site) = &site.kind else { return None };
        match site.access()?.1 {
            Where::Buffer(buffer) if self.extent.buffers[buffer as usize].has(address, 1) => {
                self.element(sites, Space::Buffer(buffer), address).array
            }
            Where::Image(image) => sites.images[image as usize].clone(),
            Where::Buffer(_) | Where::Shared | Where::Anywhere => None,
        }
    }

    /// The space of an access; `None` if it is out of range, or in private memory.
    fn space_of(&self, place: Where, (address, size): (u64, u64)) -> Option<Space> {
        let shared = || self.extent.shared.has(address, size).then_some(Space::Shared);
        let buffer = |buffer: u32| {
            self.extent.buffers[buffer as usize].has(address, size).then_some(Space::Buffer(buffer))
        };
        match place {
            Where::Shared => shared(),
            Where::Buffer(at) => buffer(at),
            Where::Image(_) => None,
            Where::Anywhere => shared().or_else(|| (0..self.extent.buffers.len() as u32).find_map(buffer)),
        }
    }

    fn event(&self, site_id: u32, invocation: Invocation, touch: Touch) -> Event {
        let n_lanes: u32 = self.local_size.iter().product();
        let group = along(invocation.group, self.extent.groups);
        let invocation = group.wrapping_mul(n_lanes).wrapping_add(self.lane(invocation)).wrapping_add(1);
        Event { invocation, epoch: self.epoch, site_id, is_atomic: touch.is_atomic() }
    }

    fn lane(&self, invocation: Invocation) -> u32 {
        along(invocation.local, self.local_size)
    }

    fn invocation(&self, event: Event) -> Invocation {
        let n_lanes: u32 = self.local_size.iter().product();
        let at = |n: u32, [x, y, _]: [u32; 3]| [n % x, n / x % y, n / x / y];
        let (group, lane) = ((event.invocation - 1) / n_lanes, (event.invocation - 1) % n_lanes);
        Invocation::new(at(group, self.extent.groups), at(lane, self.local_size), self.local_size)
    }

    /// The element at an address of a space.
    fn element(&self, sites: &Sites, space: Space, address: u64) -> Element {
        let base = match space {
            Space::Buffer(buffer) => self.extent.buffers[buffer as usize].start,
            _ => self.extent.shared.start,
        };
        let offset = address - base;
        let is_it = |array: &Array| array.space == space && (array.start..array.end).contains(&offset);
        let found = sites.arrays.iter().zip(sites.axes.iter()).find(|(array, _)| is_it(array));
        let path = found.map(|(array, axes)| {
            let mut path = array.parts.path(offset - array.start);
            axes::unflatten(&mut path, axes, &self.extent);
            path
        });
        Element {
            array: found.and_then(|(array, _)| array.name.clone()),
            path: path.unwrap_or_default(),
            memory: if space == Space::Shared { SharedMemory::Workgroup } else { SharedMemory::Buffer },
        }
    }
}

/// Size of the smallest access to device memory, at most 4.
fn device_grain(sites: &Sites) -> u64 {
    let sizes = sites.all.iter().filter_map(|site| match site.kind {
        SiteKind::Check(CheckSite::Access { size, place, .. }) if place != Where::Shared => {
            Some(u64::from(size))
        }
        _ => None,
    });
    sizes.min().unwrap_or(4).min(4)
}

/// The linear index in a grid, along x, then y, then z.
fn along(at: [u32; 3], n: [u32; 3]) -> u32 {
    (at[2].wrapping_mul(n[1]).wrapping_add(at[1])).wrapping_mul(n[0]).wrapping_add(at[0])
}

/// Whether memory differs from the lowest bytes of a value.
///
/// # Safety
/// The range is readable, and of eight bytes at most.
unsafe fn differs((address, size): (u64, u64), value: u64) -> bool {
    let mut there = [0; 8];
    let size = size as usize;
    // SAFETY: the caller upholds it.
    unsafe { std::ptr::copy_nonoverlapping(address as *const u8, there.as_mut_ptr(), size) };
    there[..size] != value.to_le_bytes()[..size]
}

fn touch_of(site: &Site<Option<SourceLine>>) -> Option<Touch> {
    let SiteKind::Check(site) = &site.kind else { return None };
    site.access().map(|(touch, _)| touch)
}

fn is_atomic(site: &Site<Option<SourceLine>>) -> bool {
    touch_of(site).is_some_and(Touch::is_atomic)
}

fn access_of(site: &Site<Option<SourceLine>>) -> Access {
    match touch_of(site) {
        Some(Touch::Read | Touch::Copy | Touch::AtomicRead) => Access::Read,
        Some(Touch::Write | Touch::AtomicWrite) => Access::Write,
        _ => Access::ReadWrite,
    }
}
