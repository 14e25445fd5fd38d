//! A loaded module: the pipeline from its binary to its code.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Lanes;
use super::emit::{lane_stride, lanes_wait};
use super::info::{MAX_INVOCATIONS, NAME, SUBGROUP_SIZE, SUBGROUP_SIZES};
use super::lane::Kernel;
use super::lane::regions::{self, Region, Regions};
use super::lane::simd::MAX_WIDTH;
use super::library::Usage;
use super::module::{Module, Strings};
use super::subgroups::LaneScheduler;
use super::tiers::{Chosen, INSTS_PER_NANOSECOND, Tiers};
use super::{errors, instrumentation, lower, module};
use crate::findings::Check;
use crate::reflect;
use crate::{
    DeviceError, Finding, FindingKind, Instrument, Interface, Invocation, Limit, PipelineOptions, Result,
    SourceLine,
};

/// The assumed number of iterations of a loop.
const LOOP_WEIGHT: u64 = 32;

/// How many times longer instrumented code takes, roughly.
const INSTRUMENTED_SLOWDOWN: u64 = 16;

/// Limit in bytes for the variables of all lanes of a workgroup.
const MAX_FRAMES: u64 = 64 << 20;

pub struct Pipeline {
    pub interface: Arc<Interface>,
    pub usage: Usage,
    tiers: Tiers,
    strings: Strings,
    /// For each region, the line at which lanes wait before it.
    pub wait_lines: Vec<Option<SourceLine>>,
    /// Present if lanes may wait at different places.
    pub scheduler: Option<Arc<LaneScheduler>>,
    /// Set and binding of each buffer, in the order of the code's slots.
    pub buffers: Vec<(u32, u32)>,
    /// The same for images and samplers.
    pub images: Vec<(u32, u32)>,
    pub samplers: Vec<(u32, u32)>,
    pub uses_addresses: bool,
    pub push_size: usize,
    pub shared_size: usize,
    pub clears_shared: bool,
    /// Bytes for the variables of all lanes that run at once.
    pub frame_size: usize,
    /// Estimated instructions of one workgroup.
    pub cost: u64,
    /// Whether its time depends on more than the number of workgroups.
    has_loops: bool,
    /// Picoseconds of a workgroup: the longest of its recent dispatches; 0 before the first.
    slowest: AtomicU64,
    pub instrument: Instrument,
    /// Its instrumentation sites.
    pub sites: instrumentation::Sites,
}

impl Pipeline {
    /// The code that a dispatch runs, and whether one like it will run the same from now on.
    pub fn code(&self, groups: [u32; 3], push: &[u8]) -> Result<(Chosen, bool)> {
        let is_final = self.tiers.is_final();
        Ok((self.tiers.choose(&self.usage, groups, self.cost, push)?, is_final))
    }

    /// Whether its dispatches differ only in groups, buffers and push constants.
    pub fn is_plain(&self) -> bool {
        self.images.is_empty()
            && self.samplers.is_empty()
            && !self.uses_addresses
            && self.instrument == Instrument::None
    }

    /// Whether the time of its dispatches decides about later ones, or somebody wants to see it.
    pub fn is_timed(&self) -> bool {
        self.has_loops || self.instrument == Instrument::Profile || !self.tiers.is_final()
    }

    /// The expected nanoseconds of a dispatch on one thread. A kernel with loops has to run before anything
    /// is known: one invocation may count to a billion.
    pub fn expected(&self, n_groups: u64) -> u64 {
        if !self.has_loops {
            let slowdown = if self.instrument == Instrument::None { 1 } else { INSTRUMENTED_SLOWDOWN };
            return n_groups.saturating_mul(self.cost * slowdown) / INSTS_PER_NANOSECOND;
        }
        match self.slowest.load(Ordering::Relaxed) {
            0 => u64::MAX,
            picoseconds => n_groups.saturating_mul(picoseconds) / 1000,
        }
    }

    /// Notes how long a dispatch of so many workgroups took.
    pub fn note(&self, took: Duration, n_groups: u64) {
        self.tiers.note(took);
        if self.has_loops {
            let picoseconds = u64::try_from(took.as_nanos() * 1000 / u128::from(n_groups.max(1)));
            let before = self.slowest.load(Ordering::Relaxed);
            // One slow run on a busy machine is forgotten after some fast ones.
            let slowest = picoseconds.unwrap_or(u64::MAX).max(before - before / 8).max(1);
            self.slowest.store(slowest, Ordering::Relaxed);
        }
    }

    /// The kernel's name. A shader has the name of its file, and of its entry point unless that is `main`.
    pub fn name(&self) -> String {
        let Interface { entry_point, name, .. } = &*self.interface;
        match (name, &self.wait_lines[0]) {
            (Some(name), _) if name != entry_point => name.clone(),
            (_, Some(line)) if entry_point == "main" => line.file.clone(),
            (_, Some(line)) => format!("{}:{entry_point}", line.file),
            _ => entry_point.clone(),
        }
    }

    /// The line at which the code was stopped.
    pub fn line(&self, place: usize) -> Option<SourceLine> {
        self.strings.line(self.tiers.line(place))
    }

    /// The error for lanes that wait at two regions and cannot reconverge. `lanes` has one lane of each.
    pub fn divergence_error(&self, regions: [usize; 2], lanes: [u32; 2], group: [u32; 3]) -> DeviceError {
        let [barrier, other] = self.diverged_lines(regions);
        let [invocation, _] = self.diverged_invocations(regions, lanes, group);
        errors::diverged(barrier, other, invocation)
    }

    /// The same as a finding, for checked kernels.
    pub fn divergence_finding(&self, regions: [usize; 2], lanes: [u32; 2], group: [u32; 3]) -> Finding {
        let [line, waits] = self.diverged_lines(regions);
        let [invocation, other] = self.diverged_invocations(regions, lanes, group);
        Finding {
            kind: FindingKind::DivergentBarrier { other, waits },
            line,
            invocation,
            count: 1,
            launch: crate::findings::Launch::default(),
        }
    }

    /// The line at which lanes waited before a region. For the first region, it is the kernel's first line.
    pub fn waited_at(&self, [region, _]: [usize; 2]) -> Option<SourceLine> {
        self.wait_lines[region].clone()
    }

    /// One invocation that waits at a barrier, and one that does not reach it.
    fn diverged_invocations(&self, regions: [usize; 2], lanes: [u32; 2], group: [u32; 3]) -> [Invocation; 2] {
        let size = self.interface.local_size;
        let local = |lane: u32| [lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]];
        let [first, second] = lanes.map(|lane| Invocation::new(group, local(lane), size));
        if regions[0] == 0 { [second, first] } else { [first, second] }
    }

    /// The lines at which the lanes wait. One is a barrier; the other may be the end of the kernel.
    fn diverged_lines(&self, regions: [usize; 2]) -> [Option<SourceLine>; 2] {
        let [barrier, other] = if regions[0] == 0 { [regions[1], 0] } else { regions };
        let other = (other != 0).then(|| self.wait_lines[other].clone()).flatten();
        [self.wait_lines[barrier].clone(), other]
    }
}

pub fn load(words: &[u32], options: &PipelineOptions, mode: Lanes) -> Result<Pipeline> {
    let subgroup_size = subgroup_size(options)?;
    let words = &reflect::in_host_order(words);
    // Reflection comes first, so that all devices give the same error for modules that none supports.
    let interface = Interface::reflect(words, options)?;
    let module = module::read(words, options, subgroup_size)?;
    check_local_size(module.local_size)?;
    let mut kernel = lower::lower(&module, subgroup_size, options.instrument)?;
    if options.instrument == Instrument::Profile {
        instrumentation::profile::watch(&mut kernel);
    }
    let too_many = |_| errors::too_large("its barriers split it into too many regions", None);
    let regions = regions::split(&kernel).map_err(too_many)?;
    let carried = regions::carried(&kernel, &regions).map_err(too_many)?;
    let lanes: u64 = module.local_size.iter().map(|&n| u64::from(n)).product();
    // Lanes that run at once have adjacent frames.
    let n_frames = if lanes_wait(&kernel, &regions) { lanes } else { u64::from(MAX_WIDTH) };
    let stride = lane_stride(&kernel, &carried);
    let frame_size = u64::from(stride) * n_frames;
    if frame_size > MAX_FRAMES {
        return Err(errors::too_large(format!("the variables of a workgroup have {frame_size} bytes"), None));
    }
    Ok(Pipeline {
        interface: Arc::new(interface),
        usage: Usage::of_words(words.len()),
        wait_lines: wait_lines(&module, &kernel, &regions),
        scheduler: LaneScheduler::new(&kernel, &regions, stride).map(Arc::new),
        uses_addresses: kernel.uses_addresses,
        push_size: kernel.push_size as usize,
        shared_size: kernel.shared_size as usize,
        clears_shared: kernel.clears_shared,
        frame_size: frame_size as usize,
        has_loops: regions.all.iter().any(|region| !region.back_edges.is_empty()),
        slowest: AtomicU64::new(0),
        cost: regions.all.iter().map(|region| cost(&kernel, region)).sum::<u64>() * lanes,
        instrument: match options.instrument {
            // Shared memory is initialised when a workgroup begins.
            Instrument::Checked(checks) if kernel.clears_shared => {
                Instrument::Checked(checks.without(Check::SharedUninitialised))
            }
            instrument => instrument,
        },
        sites: match options.instrument {
            Instrument::None => instrumentation::Sites::default(),
            _ => instrumentation::sites(&kernel, &module),
        },
        buffers: kernel.buffers.clone(),
        images: kernel.images.clone(),
        samplers: kernel.samplers.clone(),
        strings: module.strings.clone(),
        tiers: Tiers::new(kernel, regions, carried, mode),
    })
}

fn wait_lines(module: &Module<'_>, kernel: &Kernel, regions: &Regions) -> Vec<Option<SourceLine>> {
    let mut lines = vec![None; regions.all.len()];
    // Between two workgroups, the line is that of the next one's start.
    lines[0] = module.first_line();
    for block in &kernel.blocks {
        if let Some(&region) = block.end.waits().and_then(|after| regions.by_entry.get(&after)) {
            lines[region] = module.line(block.line);
        }
    }
    lines
}

/// Estimated instructions of one lane in a region.
fn cost(kernel: &Kernel, region: &Region) -> u64 {
    let n_insts = region.blocks.iter().map(|block| kernel.blocks[block.0 as usize].insts.len() as u64);
    let weight = if region.back_edges.is_empty() { 1 } else { LOOP_WEIGHT };
    (n_insts.sum::<u64>() + 4) * weight
}

fn subgroup_size(options: &PipelineOptions) -> Result<u32> {
    match options.subgroup_size {
        None => Ok(SUBGROUP_SIZE),
        Some(size) if SUBGROUP_SIZES.contains(&size) => Ok(size),
        Some(size) => Err(errors::bad_command(format!(
            "subgroups of {size} invocations were asked for, {NAME} has those of {SUBGROUP_SIZES:?}"
        ))),
    }
}

fn check_local_size(local_size: [u32; 3]) -> Result<()> {
    let exceeded = |what, asked| {
        let (limit, device) = (u64::from(MAX_INVOCATIONS), NAME.to_owned());
        Err(DeviceError::LimitExceeded { what, asked, limit, device })
    };
    if local_size.contains(&0) {
        return Err(errors::malformed("a local size of 0", None));
    }
    if let Some(&n) = local_size.iter().find(|&&n| n > MAX_INVOCATIONS) {
        return exceeded(Limit::LocalSize("a side of the local size"), u64::from(n));
    }
    match local_size.iter().map(|&n| u64::from(n)).product() {
        n if n > u64::from(MAX_INVOCATIONS) => exceeded(Limit::LocalSize("the local size"), n),
        _ => Ok(()),
    }
}
