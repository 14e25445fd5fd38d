//! A loaded module: words to code, by way of every phase.

use std::rc::Rc;

use rspirv::spirv::Op;

use super::NAME;
use super::emit::{Code, Compiler};
use super::info::MAX_INVOCATIONS;
use super::lane::regions;
use super::{lower, module};
use crate::{DeviceError, Interface, PipelineOptions, Result, SourceLine};

/// How often a loop is thought to go round.
const LOOP_WEIGHT: u64 = 32;

pub struct Pipeline {
    pub interface: Rc<Interface>,
    pub code: Code,
    /// Lines that the code may be stopped at.
    pub lines: Vec<Option<SourceLine>>,
    /// Set and binding of each buffer that the code takes, in its order.
    pub buffers: Vec<(u32, u32)>,
    pub push_size: usize,
    pub shared_size: usize,
    pub frame_size: usize,
    /// Instructions of one workgroup, roughly.
    pub cost: u64,
}

pub fn load(words: &[u32], options: &PipelineOptions, compiler: &mut Compiler) -> Result<Pipeline> {
    let module = module::read(words, options)?;
    check_local_size(module.local_size)?;
    let interface = Interface::reflect(words, options)?;
    let kernel = lower::lower(&module)?;
    if let Some(line) = regions::barrier(&kernel) {
        let message = "lanes that wait for each other are not run yet";
        return Err(super::errors::unsupported(Op::ControlBarrier, message, module.line(line)));
    }
    let regions = regions::split(&kernel);
    let code = compiler.compile(&kernel, &regions)?;
    let region = &regions.all[0];
    let n_insts: usize = region.blocks.iter().map(|block| kernel.blocks[block.0 as usize].insts.len()).sum();
    let weight = if region.back_edges.is_empty() { 1 } else { LOOP_WEIGHT };
    let lanes: u64 = module.local_size.iter().map(|&n| u64::from(n)).product();
    Ok(Pipeline {
        interface: Rc::new(interface),
        lines: code.lines.iter().map(|&line| module.line(line)).collect(),
        code,
        buffers: kernel.buffers,
        push_size: kernel.push_size as usize,
        shared_size: kernel.shared_size as usize,
        frame_size: kernel.frame_size as usize,
        cost: (n_insts as u64 + 4) * weight * lanes,
    })
}

fn check_local_size(local_size: [u32; 3]) -> Result<()> {
    let exceeded = |what, asked| {
        let (limit, device) = (u64::from(MAX_INVOCATIONS), NAME.to_owned());
        Err(DeviceError::LimitExceeded { what, asked, limit, device })
    };
    if local_size.contains(&0) {
        return Err(super::errors::malformed("a local size of 0", None));
    }
    if let Some(&n) = local_size.iter().find(|&&n| n > MAX_INVOCATIONS) {
        return exceeded("a side of the local size", u64::from(n));
    }
    match local_size.iter().map(|&n| u64::from(n)).product() {
        n if n > u64::from(MAX_INVOCATIONS) => exceeded("the local size", n),
        _ => Ok(()),
    }
}
