//! A pass of the checked mode: it adds a site to each access to memory that invocations share.
//!
//! A site reports the address and the stored value; for texels, the coordinates and their words. Private
//! memory, push constants and internal buffers have no sites. Accesses that cannot race have fewer: if a
//! region between two barriers only reads shared memory, its sites check for uninitialised reads only.

use rustc_hash::{FxHashMap, FxHashSet};

use super::copies::{self, Flow};
use super::shared::MAX_SITES;
use crate::cpu::lane::regions::{self, Region};
use crate::cpu::lane::{
    Address, Array, Atomic, Binary, BlockId, CheckSite, Def, ImageAction, Inst, Kernel, Op, Site, SiteKind,
    Space, Touch, Ty, Value, Where,
};
use crate::cpu::module::Line;
use crate::findings::ArrayName;
use crate::{Check, Checks};

pub fn insert(kernel: &mut Kernel, checks: Checks) {
    let wanted = Wanted {
        shared: checks.has(Check::SharedRace) || checks.has(Check::SharedUninitialised),
        device: checks.has(Check::DeviceRace) || checks.has(Check::DeviceUninitialised),
    };
    if !wanted.shared && !wanted.device {
        return;
    }
    let places = places(kernel);
    let copies = copies::find(kernel, |address| !matches!(places.get(&address), Some(None)));
    let known = Known { places, uses: uses(kernel), copies };
    let guards = guards(kernel, &known);
    let calm = read_only_blocks(kernel, &known.places);
    let mut loads: FxHashMap<Value, u32> = FxHashMap::default();
    let mut stores: Vec<(u32, Value)> = Vec::new();
    for block in 0..kernel.blocks.len() {
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut watched = Vec::with_capacity(insts.len() * 2);
        for inst in insts {
            if kernel.sites.len() < MAX_SITES
                && let Some(mut access) = access(kernel, &known, &inst).filter(|access| wanted.has(access))
            {
                let is_calm = calm.contains(&block);
                let copied = inst.result.filter(|result| known.copies.contains(result));
                let is_copy = copied.is_some();
                let site_id = kernel.sites.len() as u32;
                loads.extend(copied.map(|value| (value, site_id)));
                stores.extend(access.values.get(1).map(|value| (site_id, *value)));
                let when = match access.place {
                    Where::Shared if is_calm && !checks.has(Check::SharedUninitialised) => {
                        watched.push(inst);
                        continue;
                    }
                    Where::Shared if is_calm && !is_copy => Some(Op::Unwritten),
                    Where::Buffer(buffer) => Some(Op::Watched(buffer)),
                    Where::Image(image) => Some(Op::Watched(kernel.buffers.len() as u32 + image)),
                    Where::Shared | Where::Anywhere => None,
                };
                let mut put = |op: Op, ty: Ty| {
                    let result = kernel.add_value(ty, Def::Inst(BlockId(block as u32)));
                    watched.push(Inst { op, result: Some(result), line: inst.line });
                    result
                };
                let when = when.map(|op| put(op, Ty::Bool));
                let when = match (when, guards.get(&inst.result)) {
                    (Some(when), Some(inside)) => Some(put(Op::Binary(Binary::And, when, *inside), Ty::Bool)),
                    (None, Some(inside)) => Some(*inside),
                    (when, None) => when,
                };
                if let Some(address) = access.texel {
                    let word = |i: u32| Op::Load { ty: Ty::I32, address, offset: 4 * i };
                    access.values.extend((0..4).map(|i| put(word(i), Ty::I32)));
                }
                watched.push(instrument(kernel, access, when, inst.line));
            }
            watched.push(inst);
        }
        kernel.blocks[block].insts = watched;
    }
    for (store, value) in stores {
        if let SiteKind::Check(CheckSite::Access { copied_from, .. }) = &mut kernel.sites[store as usize].kind
        {
            *copied_from = loads.get(&value).copied();
        }
    }
}

/// Facts about a kernel's values.
struct Known {
    places: Places,
    uses: FxHashMap<Value, Use>,
    /// Loads whose values are only copied.
    copies: FxHashSet<Value>,
}

/// How a value is used.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// Only by a select, which takes it where this condition is true.
    Where(Value),
    Anyhow,
}

/// Which memory is observed.
struct Wanted {
    shared: bool,
    device: bool,
}

impl Wanted {
    fn has(&self, access: &Watched) -> bool {
        match access.place {
            Where::Shared => self.shared,
            Where::Buffer(_) | Where::Image(_) => self.device,
            Where::Anywhere => true,
        }
    }
}

/// An access with the values that its site reports.
struct Watched {
    place: Where,
    site: CheckSite,
    values: Vec<Value>,
    /// The address of the four words that a texel store writes.
    texel: Option<Value>,
}

fn instrument(kernel: &mut Kernel, access: Watched, when: Option<Value>, line: Option<Line>) -> Inst {
    let site_id = kernel.sites.len() as u32;
    kernel.sites.push(Site { kind: SiteKind::Check(access.site), line });
    Inst { op: Op::Instrument { site_id, values: access.values, when }, result: None, line }
}

/// Blocks that belong only to regions without writes to shared memory.
fn read_only_blocks(kernel: &Kernel, places: &Places) -> FxHashSet<usize> {
    // Subgroup operations let lanes of a workgroup be in several regions at once.
    let Ok(regions) = regions::split(kernel) else { return FxHashSet::default() };
    if !kernel.group_ops.is_empty() {
        return FxHashSet::default();
    }
    let blocks = |region: &Region| region.blocks.iter().map(|block| block.0 as usize).collect::<Vec<_>>();
    let is_calm = |blocks: &Vec<usize>| !blocks.iter().any(|&block| may_write(kernel, places, block));
    let (calm, busy): (Vec<_>, Vec<_>) = regions.all.iter().map(blocks).partition(is_calm);
    let busy: FxHashSet<usize> = busy.into_iter().flatten().collect();
    calm.into_iter().flatten().filter(|block| !busy.contains(block)).collect()
}

/// Whether a block may write shared memory.
fn may_write(kernel: &Kernel, places: &Places, block: usize) -> bool {
    kernel.blocks[block].insts.iter().any(|inst| {
        let address = match inst.op {
            Op::Store { address, .. } | Op::StoreNarrow { address, .. } => address,
            Op::Atomic { address, .. } | Op::AtomicHalf { address, .. } => address,
            Op::CompareExchange { address, .. } => address,
            _ => return false,
        };
        matches!(places.get(&address), Some(Some(Where::Shared | Where::Anywhere)) | None)
    })
}

/// The memory behind each address; `None` for private memory. Absent addresses may lead anywhere.
type Places = FxHashMap<Value, Option<Where>>;

fn places(kernel: &Kernel) -> Places {
    let place = |op: &Op| match *op {
        Op::Address(Address { space, .. }) => Some(match space {
            Space::Shared => Some(Where::Shared),
            Space::Buffer(buffer) => (!is_internal(kernel, buffer)).then_some(Where::Buffer(buffer)),
            Space::Push | Space::Frame { .. } => None,
            Space::Device => Some(Where::Anywhere),
        }),
        Op::Texel { image, .. } => Some(Some(Where::Image(image))),
        _ => None,
    };
    let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
    insts.filter_map(|inst| Some((inst.result?, place(&inst.op)?))).collect()
}

fn uses(kernel: &Kernel) -> FxHashMap<Value, Use> {
    let mut uses = FxHashMap::default();
    let mut note = |value: Value, found: Use| {
        let known = uses.entry(value).or_insert(found);
        if *known != found {
            *known = Use::Anyhow;
        }
    };
    for block in &kernel.blocks {
        for inst in &block.insts {
            match inst.op {
                Op::Select(condition, chosen, other) => {
                    note(chosen, Use::Where(condition));
                    [condition, other].into_iter().for_each(|value| note(value, Use::Anyhow));
                }
                ref op => op.clone().each_use(&mut |value| note(*value, Use::Anyhow)),
            }
        }
        block.end.clone().each_use(&mut |value| note(*value, Use::Anyhow));
    }
    uses
}

/// For loads whose index the module clamps: the condition that the index was in range. Otherwise the load
/// reads another element, and its value is unused.
fn guards(kernel: &Kernel, known: &Known) -> FxHashMap<Option<Value>, Value> {
    let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
    let loads = insts.filter_map(|inst| match (&inst.op, known.uses.get(&inst.result?)) {
        (Op::Load { address, .. } | Op::LoadNarrow { address, .. }, Some(Use::Where(inside))) => {
            Some((inst.result, *address, *inside))
        }
        _ => None,
    });
    let loads: Vec<_> = loads.collect();
    if loads.is_empty() {
        return FxHashMap::default();
    }
    let flow = Flow::of(kernel);
    let is_guarded = |(_, address, inside): &(_, Value, Value)| flow.leads(*inside, *address);
    loads.into_iter().filter(is_guarded).map(|(load, _, inside)| (load, inside)).collect()
}

fn access(kernel: &Kernel, known: &Known, inst: &Inst) -> Option<Watched> {
    let size = |value: Value| kernel.values[value.0 as usize].ty.size();
    let is_used = || inst.result.is_some_and(|result| known.uses.contains_key(&result));
    let read = || match inst.result.is_some_and(|result| known.copies.contains(&result)) {
        true => Touch::Copy,
        false => Touch::Read,
    };
    let (touch, address, offset, size, stored) = match inst.op {
        // A copy of a struct for some of its members does not need the others.
        Op::Load { .. } | Op::LoadNarrow { .. } if !is_used() => return None,
        Op::Load { ty, address, offset } => (read(), address, offset, ty.size(), None),
        Op::LoadNarrow { bytes, address, offset } => (read(), address, offset, bytes, None),
        Op::Store { address, offset, value } => (Touch::Write, address, offset, size(value), Some(value)),
        Op::StoreNarrow { bytes, address, offset, value } => {
            (Touch::Write, address, offset, bytes, Some(value))
        }
        Op::AtomicLoad { ty, address } => (Touch::AtomicRead, address, 0, ty.size(), None),
        // The old value does not matter: an atomic store.
        Op::Atomic { op: Atomic::Exchange, address, value } if !is_used() => {
            (Touch::AtomicWrite, address, 0, size(value), None)
        }
        Op::Atomic { address, value, .. } | Op::CompareExchange { address, value, .. } => {
            (Touch::AtomicChange, address, 0, size(value), None)
        }
        Op::AtomicHalf { address, .. } => (Touch::AtomicChange, address, 0, 2, None),
        Op::Image { image, action: ImageAction::Read, place, .. } => {
            return Some(texel_access(image, Touch::Read, place, None));
        }
        Op::Image { image, action: ImageAction::Write, place, texel } => {
            return Some(texel_access(image, Touch::Write, place, Some(texel)));
        }
        _ => return None,
    };
    let place = known.places.get(&address).copied().unwrap_or(Some(Where::Anywhere))?;
    let values = [address].into_iter().chain(stored).collect();
    let site = CheckSite::Access { touch, place, offset, size, copied_from: None };
    Some(Watched { place, site, values, texel: None })
}

fn texel_access(image: u32, touch: Touch, place: [Value; 3], texel: Option<Value>) -> Watched {
    let site = CheckSite::TexelAccess { touch, image };
    Watched { place: Where::Image(image), site, values: place.to_vec(), texel }
}

/// Whether it is a buffer that launches create internally.
fn is_internal(kernel: &Kernel, buffer: u32) -> bool {
    let is_it = |array: &&Array| array.space == Space::Buffer(buffer);
    let name = kernel.arrays.iter().find(is_it).and_then(|array| array.name.as_ref());
    matches!(name, Some(ArrayName::Name(name)) if name.starts_with("kps."))
}
