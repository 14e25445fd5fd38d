//! The profile: a pass that inserts counters for each line, and the observer that groups the lanes of a warp.
//!
//! [`watch`] inserts three kinds of sites: one for each line at the start of a block, one before the first
//! use of each address in a block, and one before each branch. Lanes of a workgroup run one after the other,
//! by index, up to the next barrier. So the requests of a warp are complete when a lane of another warp
//! arrives, or an earlier lane arrives again.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Observer, Sites};
use crate::Invocation;
use crate::cpu::lane::{
    Address, Block, Direction, Inst, Kernel, Memory, Op, ProfileSite, Site, SiteKind, Space, Terminator,
    Value,
};
use crate::cpu::module::Line;
use crate::profile::{BANKS, Counts, LineCounts, SECTOR, WARP};

/// Between two barriers, this many visits of a lane to one site are analysed warp by warp. Later ones only
/// count bytes.
const MAX_ROUNDS: usize = 1 << 15;

/// Inserts the sites.
pub fn watch(kernel: &mut Kernel) {
    let addresses = addresses(kernel);
    let mut blocks = std::mem::take(&mut kernel.blocks);
    for block in &mut blocks {
        watch_block(kernel, block, &addresses);
    }
    kernel.blocks = blocks;
}

/// The definition of each address.
fn addresses(kernel: &Kernel) -> FxHashMap<Value, Address> {
    let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
    let address = |inst: &Inst| match (&inst.op, inst.result) {
        (Op::Address(address), Some(result)) => Some((result, *address)),
        _ => None,
    };
    insts.filter_map(address).collect()
}

fn watch_block(kernel: &mut Kernel, block: &mut Block, addresses: &FxHashMap<Value, Address>) {
    let mut insts = Vec::with_capacity(2 * block.insts.len());
    for (line, instructions) in runs(block) {
        insts.push(instrument(kernel, ProfileSite::Run { instructions }, line, Vec::new()));
    }
    let mut seen = FxHashSet::default();
    for inst in block.insts.drain(..) {
        if let Some((address, direction, bytes)) = access(kernel, &inst.op)
            && seen.insert((address, direction))
            && let Some((site, value)) = site(address, direction, bytes, addresses)
        {
            insts.push(instrument(kernel, site, inst.line, value.into_iter().collect()));
        }
        insts.push(inst);
    }
    if let Terminator::Branch { condition: value, .. } | Terminator::Switch { value, .. } = block.end {
        insts.push(instrument(kernel, ProfileSite::Branch, block.line, vec![value]));
    }
    block.insts = insts;
}

fn instrument(kernel: &mut Kernel, site: ProfileSite, line: Option<Line>, values: Vec<Value>) -> Inst {
    let site_id = kernel.sites.len() as u32;
    kernel.sites.push(Site { kind: SiteKind::Profile(site), line });
    Inst { op: Op::Instrument { site_id, values, when: None }, result: None, line }
}

/// The lines of a block, with their counters.
fn runs(block: &Block) -> Vec<(Option<Line>, u32)> {
    let mut runs: Vec<(Option<Line>, u32)> = Vec::new();
    let mut count = |line: Option<Line>| match runs.iter_mut().find(|(known, _)| *known == line) {
        Some((_, n)) => *n += 1,
        None => runs.push((line, 1)),
    };
    // The cost of an address is that of its computation.
    let works = |inst: &&Inst| !matches!(inst.op, Op::Address(_) | Op::Instrument { .. });
    block.insts.iter().filter(works).for_each(|inst| count(inst.line));
    if matches!(block.end, Terminator::Branch { .. } | Terminator::Switch { .. }) {
        count(block.line);
    }
    runs
}

/// The address, direction and size of an access.
fn access(kernel: &Kernel, op: &Op) -> Option<(Value, Direction, u32)> {
    let size = |value: Value| kernel.values[value.0 as usize].ty.size();
    Some(match *op {
        Op::Load { ty, address, .. } | Op::AtomicLoad { ty, address } => {
            (address, Direction::Read, ty.size())
        }
        Op::LoadNarrow { bytes, address, .. } => (address, Direction::Read, bytes),
        Op::Store { address, value, .. } => (address, Direction::Write, size(value)),
        Op::StoreNarrow { bytes, address, .. } => (address, Direction::Write, bytes),
        Op::Atomic { address, value, .. } | Op::CompareExchange { address, value, .. } => {
            (address, Direction::Both, size(value))
        }
        Op::AtomicHalf { address, .. } => (address, Direction::Both, 2),
        _ => return None,
    })
}

/// An access uses the whole range of its address, for instance that of a vector. A selected address counts by
/// itself. `None` for private memory and push constants.
fn site(
    address: Value,
    direction: Direction,
    bytes: u32,
    addresses: &FxHashMap<Value, Address>,
) -> Option<(ProfileSite, Option<Value>)> {
    let Some(made) = addresses.get(&address) else {
        return Some((
            ProfileSite::Access { memory: Memory::Global, direction, constant: 0, bytes },
            Some(address),
        ));
    };
    let memory = match made.space {
        Space::Buffer(_) | Space::Device => Memory::Global,
        Space::Shared => Memory::Shared,
        Space::Push | Space::Frame { .. } => return None,
    };
    Some((ProfileSite::Access { memory, direction, constant: made.constant, bytes: made.size }, made.dynamic))
}

/// Observes one dispatch.
pub struct Profiler {
    sites: Sites,
    local_size: [u32; 3],
    /// For each site.
    counts: Vec<Counts>,
    group: [u32; 3],
    warp: u32,
    /// The last lane, by its index in the workgroup.
    lane: Option<u32>,
    /// How often this lane visited each site.
    rounds: Vec<usize>,
    /// The sites that this lane visited.
    visited: Vec<u32>,
    /// The values of the warp's lanes, by site and visit.
    requests: Vec<Vec<Vec<u64>>>,
    /// The sites that have requests.
    open: Vec<u32>,
}

impl Profiler {
    pub fn new(sites: Sites, local_size: [u32; 3]) -> Profiler {
        let n = sites.all.len();
        Profiler {
            sites,
            local_size,
            counts: vec![Counts::default(); n],
            group: [0; 3],
            warp: 0,
            lane: None,
            rounds: vec![0; n],
            visited: Vec::new(),
            requests: vec![Vec::new(); n],
            open: Vec::new(),
        }
    }

    /// Notices when another lane, or another warp, begins.
    fn enter(&mut self, invocation: Invocation) {
        let [size_x, size_y, _] = self.local_size;
        let [x, y, z] = invocation.local;
        let lane = (z * size_y + y) * size_x + x;
        let same_group = self.group == invocation.group;
        if self.lane == Some(lane) && same_group {
            return;
        }
        let goes_on = same_group && lane / WARP == self.warp && self.lane.is_some_and(|last| last < lane);
        for site in self.visited.drain(..) {
            self.rounds[site as usize] = 0;
        }
        if !goes_on {
            self.close();
        }
        (self.group, self.warp, self.lane) = (invocation.group, lane / WARP, Some(lane));
    }

    /// Counts the complete requests of the warp.
    fn close(&mut self) {
        for site in self.open.drain(..) {
            let at = site as usize;
            for request in self.requests[at].iter_mut().filter(|request| !request.is_empty()) {
                count(&self.sites.all[at].kind, request, &mut self.counts[at]);
                request.clear();
            }
        }
    }

    /// The cost of each line.
    fn lines(&mut self) -> Vec<LineCounts> {
        self.close();
        let mut lines: Vec<LineCounts> = Vec::new();
        let mut places = FxHashMap::default();
        for (site, counts) in self.sites.all.iter().zip(&self.counts) {
            let mut line = site.line.clone();
            if let Some(line) = &mut line {
                // A row of the profile is a line.
                line.column = 1;
            }
            let at = *places.entry(line).or_insert_with_key(|line| {
                lines.push((line.clone(), Counts::default()));
                lines.len() - 1
            });
            lines[at].1.add(counts);
        }
        lines
    }
}

impl Observer for Profiler {
    fn reached(&mut self, site_id: u32, invocation: Invocation, values: &[u64]) {
        let at = site_id as usize;
        let SiteKind::Profile(site) = self.sites.all[at].kind else { return };
        self.enter(invocation);
        let counts = &mut self.counts[at];
        match site {
            ProfileSite::Run { instructions } => {
                counts.instructions += u64::from(instructions);
                return;
            }
            ProfileSite::Access { memory: Memory::Global, direction, bytes, .. } => {
                counts.bytes_read += if direction == Direction::Write { 0 } else { bytes.into() };
                counts.bytes_written += if direction == Direction::Read { 0 } else { bytes.into() };
            }
            ProfileSite::Access { memory: Memory::Shared, .. } | ProfileSite::Branch => {}
        }
        let round = self.rounds[at];
        if round == 0 {
            self.visited.push(site_id);
        }
        self.rounds[at] += 1;
        if round >= MAX_ROUNDS {
            return;
        }
        let requests = &mut self.requests[at];
        if requests.len() <= round {
            requests.resize(round + 1, Vec::new());
        }
        if requests[0].is_empty() {
            self.open.push(site_id);
        }
        requests[round].push(values.first().copied().unwrap_or(0));
    }

    fn costs(&mut self) -> Vec<LineCounts> {
        self.lines()
    }
}

/// Counts one request, with the value of each lane.
fn count(kind: &SiteKind, request: &mut Vec<u64>, counts: &mut Counts) {
    match kind {
        SiteKind::Profile(ProfileSite::Access { memory, constant, bytes, .. }) => {
            request.iter_mut().for_each(|offset| *offset = offset.wrapping_add(*constant));
            request.sort_unstable();
            request.dedup();
            match memory {
                Memory::Global => count_sectors(request, u64::from(*bytes), counts),
                Memory::Shared => count_passes(request, u64::from(*bytes), counts),
            }
        }
        SiteKind::Profile(ProfileSite::Branch) => {
            counts.branches += 1;
            counts.parted += u64::from(request.iter().any(|lane| *lane != request[0]));
        }
        _ => {}
    }
}

/// Number of aligned pieces of `size` bytes that accesses of `bytes` bytes at sorted offsets touch.
fn pieces(offsets: &[u64], bytes: u64, size: u64) -> Vec<u64> {
    let mut pieces: Vec<u64> = Vec::new();
    for &offset in offsets {
        let last = offset.saturating_add(bytes.max(1) - 1) / size;
        let first = pieces.last().map_or(offset / size, |before| (offset / size).max(before + 1));
        pieces.extend(first..=last);
    }
    pieces
}

fn count_sectors(offsets: &[u64], bytes: u64, counts: &mut Counts) {
    counts.requests += 1;
    counts.sectors += pieces(offsets, bytes, SECTOR).len() as u64;
    counts.ideal_sectors += (offsets.len() as u64 * bytes).div_ceil(SECTOR);
}

fn count_passes(offsets: &[u64], bytes: u64, counts: &mut Counts) {
    let words = pieces(offsets, bytes, 4);
    let mut in_bank = [0u64; BANKS as usize];
    words.iter().for_each(|word| in_bank[(word % BANKS) as usize] += 1);
    counts.shared_requests += 1;
    counts.shared_passes += in_bank.into_iter().max().unwrap_or(0);
    counts.ideal_passes += (words.len() as u64).div_ceil(BANKS);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sectors(offsets: &[u64], bytes: u64) -> (u64, u64) {
        let mut counts = Counts::default();
        count_sectors(offsets, bytes, &mut counts);
        (counts.sectors, counts.ideal_sectors)
    }

    fn passes(offsets: &[u64]) -> (u64, u64) {
        let mut counts = Counts::default();
        count_passes(offsets, 4, &mut counts);
        (counts.shared_passes, counts.ideal_passes)
    }

    fn strided(stride: u64) -> Vec<u64> {
        (0..32).map(|lane| lane * stride).collect()
    }

    #[test]
    fn sectors_are_counted_once() {
        assert_eq!(sectors(&strided(4), 4), (4, 4));
        assert_eq!(sectors(&strided(8), 4), (8, 4));
        assert_eq!(sectors(&strided(128), 4), (32, 4));
        assert_eq!(sectors(&strided(16), 16), (16, 16));
        assert_eq!(sectors(&strided(12), 12), (12, 12));
        assert_eq!(sectors(&[0], 4), (1, 1));
        assert_eq!(sectors(&[30], 4), (2, 1));
    }

    #[test]
    fn accesses_to_one_bank_are_serialised() {
        assert_eq!(passes(&strided(4)), (1, 1));
        assert_eq!(passes(&strided(8)), (2, 1));
        assert_eq!(passes(&strided(128)), (32, 1));
        assert_eq!(passes(&strided(132)), (1, 1));
        assert_eq!(passes(&[64]), (1, 1));
    }
}
