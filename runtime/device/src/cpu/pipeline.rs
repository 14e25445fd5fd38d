//! A loaded module: words to code, by way of every phase.

use std::rc::Rc;

use super::NAME;
use super::emit::{Code, Compiler, lane_stride};
use super::info::MAX_INVOCATIONS;
use super::lane::Kernel;
use super::lane::regions::{self, Region};
use super::{errors, lower, module};
use crate::{DeviceError, Interface, PipelineOptions, Result, SourceLine};

/// How often a loop is thought to go round.
const LOOP_WEIGHT: u64 = 32;

/// Bytes that the lanes of a workgroup may have for their variables.
const MAX_FRAMES: u64 = 64 << 20;

pub struct Pipeline {
    pub interface: Rc<Interface>,
    pub code: Code,
    /// Lines that the code may be stopped at.
    pub lines: Vec<Option<SourceLine>>,
    /// Set and binding of each buffer that the code takes, in its order.
    pub buffers: Vec<(u32, u32)>,
    pub push_size: usize,
    pub shared_size: usize,
    /// Bytes of the memory of every lane that runs at once.
    pub frame_size: usize,
    /// Instructions of one workgroup, roughly.
    pub cost: u64,
}

pub fn load(words: &[u32], options: &PipelineOptions, compiler: &mut Compiler) -> Result<Pipeline> {
    let module = module::read(words, options)?;
    check_local_size(module.local_size)?;
    let interface = Interface::reflect(words, options)?;
    let kernel = lower::lower(&module)?;
    let too_many = |_| errors::too_large("its barriers part it too often", None);
    let regions = regions::split(&kernel).map_err(too_many)?;
    let carried = regions::carried(&kernel, &regions).map_err(too_many)?;
    let lanes: u64 = module.local_size.iter().map(|&n| u64::from(n)).product();
    let has_barriers = regions.all.len() > 1;
    let n_frames = if has_barriers { lanes } else { 1 };
    let frame_size = u64::from(lane_stride(&kernel, &carried)) * n_frames;
    if frame_size > MAX_FRAMES {
        return Err(errors::too_large(format!("the variables of a workgroup have {frame_size} bytes"), None));
    }
    let code = compiler.compile(&kernel, &regions, &carried)?;
    Ok(Pipeline {
        interface: Rc::new(interface),
        lines: code.lines.iter().map(|&line| module.line(line)).collect(),
        code,
        push_size: kernel.push_size as usize,
        shared_size: kernel.shared_size as usize,
        frame_size: frame_size as usize,
        cost: regions.all.iter().map(|region| cost(&kernel, region)).sum::<u64>() * lanes,
        buffers: kernel.buffers,
    })
}

/// Instructions of one lane in a region, roughly.
fn cost(kernel: &Kernel, region: &Region) -> u64 {
    let n_insts = region.blocks.iter().map(|block| kernel.blocks[block.0 as usize].insts.len() as u64);
    let weight = if region.back_edges.is_empty() { 1 } else { LOOP_WEIGHT };
    (n_insts.sum::<u64>() + 4) * weight
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
        return exceeded("a side of the local size", u64::from(n));
    }
    match local_size.iter().map(|&n| u64::from(n)).product() {
        n if n > u64::from(MAX_INVOCATIONS) => exceeded("the local size", n),
        _ => Ok(()),
    }
}
