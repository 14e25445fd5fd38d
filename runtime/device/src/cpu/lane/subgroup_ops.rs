//! Kernels for gangs that hold whole subgroups. There, lanes of a subgroup meet as lanes of a gang do anyway: at a
//! block come, in each round of the loops round it, all that ever come to it. So an operation of subgroups need not
//! end a region, and becomes an instruction, [`Op::Subgroup`]; nobody counts rounds for it any more.

use rustc_hash::FxHashSet;

use super::regions::{self, Carried, Regions};
use super::simd::MAX_WIDTH;
use super::sites::{Site, SiteKind};
use super::{BlockId, Def, Inst, Kernel, Op, Space, SubgroupOp, Terminator, Value};

/// A kernel without operations of subgroups but as instructions.
pub struct InlinedSubgroupOps {
    pub kernel: Kernel,
    pub regions: Regions,
    pub carried: Carried,
}

/// `None` where no gang can hold whole subgroups, there are none, or what lanes do one after another is watched.
pub fn inline(kernel: &Kernel, known: &Regions) -> Option<InlinedSubgroupOps> {
    let size = kernel.subgroup_size;
    let fits = size <= MAX_WIDTH && kernel.local_size[0].is_multiple_of(size);
    let is_of_one_lane = |site: &Site| matches!(&site.kind, SiteKind::Check(site) if site.is_of_one_lane());
    if kernel.group_ops.is_empty() || !fits || !kernel.sites.iter().all(is_of_one_lane) {
        return None;
    }
    let mut kernel = kernel.clone();
    let uncounted = counts(&kernel);
    for i in 0..kernel.blocks.len() {
        kernel.blocks[i].insts.retain(|inst| !is_count(&inst.op, &uncounted));
        while let Terminator::Subgroup { op, next } = kernel.blocks[i].end {
            go_on(&mut kernel, i, op, next);
        }
    }
    kernel.group_ops.clear();
    let mut regions = regions::split(&kernel).ok()?;
    regions.numbers = regions.all.iter().map(|region| known.by_entry[&region.entry]).collect();
    let carried = regions::carried(&kernel, &regions).ok()?;
    Some(InlinedSubgroupOps { kernel, regions, carried })
}

/// Addresses where lanes keep their rounds for the operations.
fn counts(kernel: &Kernel) -> FxHashSet<Value> {
    let starts: FxHashSet<u32> =
        kernel.group_ops.iter().filter(|op| !op.loops.is_empty()).map(|op| op.rounds).collect();
    let insts = kernel.blocks.iter().flat_map(|block| &block.insts);
    let is_one = |inst: &&Inst| match &inst.op {
        Op::Address(address) => {
            matches!(address.space, Space::Frame { start, .. } if starts.contains(&start))
        }
        _ => false,
    };
    insts.filter(is_one).filter_map(|inst| inst.result).collect()
}

fn is_count(op: &Op, counts: &FxHashSet<Value>) -> bool {
    matches!(op, Op::Store { address, .. } if counts.contains(address))
}

/// Lets a block go on with what comes behind the operation that it ends at: that block has no other way in.
fn go_on(kernel: &mut Kernel, block: usize, op: usize, next: BlockId) {
    let behind = std::mem::take(&mut kernel.blocks[next.0 as usize]);
    for inst in &behind.insts {
        if let Some(result) = inst.result {
            kernel.values[result.0 as usize].def = Def::Inst(BlockId(block as u32));
        }
    }
    let here = &mut kernel.blocks[block];
    let known = &kernel.group_ops[op];
    let op_in_place = SubgroupOp { number: op as u32, kind: known.kind, slots: known.slots, n: known.n };
    here.insts.push(Inst { op: Op::Subgroup(op_in_place), result: None, line: here.line });
    here.insts.extend(behind.insts);
    here.end = behind.end;
    here.line = behind.line;
}
