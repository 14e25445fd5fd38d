//! Lanes of a subgroup may wait at different operations, or at one operation in different iterations of a
//! loop. This pass makes each lane count the iterations of loops around such operations. It also gives each
//! operation a place, so that lanes behind go first and reconverge with the others.
//!
//! It runs before [`super::ssa`]. The counts are locals, and stored in the lane's memory at a wait.

use rustc_hash::FxHashSet;

use super::{Address, Binary, BlockId, Builder, Kernel, Local, Space, Terminator, Ty};
use crate::Access;
use crate::cpu::module::flow::Flow;

/// Limit of nested loops around an operation.
const MAX_DEPTH: usize = 32;
/// Limit of blocks, summed over all loops.
const MAX_STEPS: usize = 1 << 20;

/// The kernel has too many loops, or too deeply nested ones.
#[derive(Debug)]
pub struct TooMany;

struct Loop {
    head: usize,
    blocks: FxHashSet<usize>,
    latches: Vec<usize>,
}

pub fn count(builder: &mut Builder) -> Result<(), TooMany> {
    if builder.kernel.group_ops.is_empty() {
        return Ok(());
    }
    let successors: Vec<Vec<usize>> = builder
        .kernel
        .blocks
        .iter()
        .map(|block| block.end.successors().iter().map(|to| to.0 as usize).collect())
        .collect();
    let flow = Flow::new(&successors);
    let predecessors = predecessors(&successors, &flow);
    let mut loops = loops(&successors, &predecessors, &flow)?;
    let waiting = waiting(&builder.kernel, &flow);
    loops.retain(|found| waiting.iter().any(|(block, _)| found.blocks.contains(block)));
    // An inner loop has fewer blocks.
    loops.sort_by_key(|found| std::cmp::Reverse(found.blocks.len()));
    let places = places(&successors, &flow, &loops);
    let counts: Vec<Local> = loops.iter().map(|found| count_one(builder, found, &predecessors)).collect();
    for (block, op) in waiting {
        let round: Vec<usize> = (0..loops.len()).filter(|&i| loops[i].blocks.contains(&block)).collect();
        if round.len() > MAX_DEPTH {
            return Err(TooMany);
        }
        let group_op = &mut builder.kernel.group_ops[op];
        group_op.place = places[block] as u32;
        group_op.loops = round.iter().map(|&i| BlockId(loops[i].head as u32)).collect();
        let counts: Vec<Local> = round.iter().map(|&i| counts[i]).collect();
        keep_counts(builder, block, op, &counts);
    }
    Ok(())
}

fn predecessors(successors: &[Vec<usize>], flow: &Flow) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for &from in &flow.order {
        for &to in &successors[from] {
            predecessors[to].push(from);
        }
    }
    predecessors
}

/// Blocks that end at a subgroup operation, with its index.
fn waiting(kernel: &Kernel, flow: &Flow) -> Vec<(usize, usize)> {
    let op = |&block: &usize| match kernel.blocks[block].end {
        Terminator::Subgroup { op, .. } => Some((block, op)),
        _ => None,
    };
    flow.order.iter().filter_map(op).collect()
}

/// The natural loops, one for each head.
fn loops(successors: &[Vec<usize>], predecessors: &[Vec<usize>], flow: &Flow) -> Result<Vec<Loop>, TooMany> {
    let mut loops = Vec::new();
    let mut n_steps = 0;
    for &head in &flow.order {
        let latches: Vec<usize> =
            predecessors[head].iter().copied().filter(|&from| flow.is_back_edge(from, head)).collect();
        if latches.is_empty() {
            continue;
        }
        let mut blocks: FxHashSet<usize> = [head].into_iter().collect();
        let mut open: Vec<usize> = latches.iter().copied().filter(|&latch| blocks.insert(latch)).collect();
        while let Some(block) = open.pop() {
            n_steps += 1 + successors[block].len();
            // A block that the head does not dominate has another entry, and is not part of the loop.
            let within = predecessors[block].iter().filter(|&&from| flow.dominates(head, from));
            open.extend(within.copied().filter(|&from| blocks.insert(from)).collect::<Vec<_>>());
        }
        if n_steps > MAX_STEPS {
            return Err(TooMany);
        }
        loops.push(Loop { head, blocks, latches });
    }
    Ok(loops)
}

/// An order of the blocks in which everything after a loop follows all of its blocks.
fn places(successors: &[Vec<usize>], flow: &Flow, loops: &[Loop]) -> Vec<usize> {
    let n = successors.len();
    // Each loop gets an extra node between its blocks and its exits.
    let mut forward: Vec<Vec<usize>> = vec![Vec::new(); n + loops.len()];
    for &from in &flow.order {
        forward[from] = successors[from].iter().copied().filter(|&to| !flow.is_back_edge(from, to)).collect();
    }
    for (i, found) in loops.iter().enumerate() {
        for &block in &found.blocks {
            let leaves: Vec<usize> =
                forward[block].iter().copied().filter(|&to| to < n && !found.blocks.contains(&to)).collect();
            forward[n + i].extend(leaves);
            forward[block].push(n + i);
        }
    }
    let mut places = vec![0; n + loops.len()];
    for (place, &node) in Flow::new(&forward).order.iter().enumerate() {
        places[node] = place;
    }
    places
}

/// A local that counts the iterations of a loop.
fn count_one(builder: &mut Builder, found: &Loop, predecessors: &[Vec<usize>]) -> Local {
    let count = builder.add_local(Ty::I32);
    for &from in &predecessors[found.head] {
        builder.block = BlockId(from as u32);
        if found.latches.contains(&from) {
            let (before, one) = (builder.get(count), builder.i32(1));
            let next = builder.binary(Binary::Add, before, one);
            builder.set(count, next);
        } else {
            let zero = builder.i32(0);
            builder.set(count, zero);
        }
    }
    count
}

fn keep_counts(builder: &mut Builder, block: usize, op: usize, counts: &[Local]) {
    let start = builder.kernel.frame_size;
    let size = 4 * counts.len() as u32;
    builder.kernel.frame_size += size.next_multiple_of(8);
    builder.kernel.group_ops[op].rounds = start;
    builder.block = BlockId(block as u32);
    for (i, &count) in counts.iter().enumerate() {
        let constant = 4 * i as u64;
        let space = Space::Frame { start, size };
        let address = Address { space, dynamic: None, constant, size: 4, access: Access::Write };
        let (address, count) = (builder.address(address), builder.get(count));
        builder.store(address, 0, count);
    }
}
