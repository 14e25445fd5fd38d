//! Orders the blocks of a region so that SIMD code can mask waiting lanes. Forward edges lead forward, and
//! the blocks of a loop are consecutive. Graphs with irreducible loops have no order.

use super::regions::Region;
use super::{BlockId, Kernel};
use crate::cpu::module::flow::{Flow, NaturalLoop};

/// From here on, a block is identified by its position in the order.
pub struct Order {
    pub blocks: Vec<BlockId>,
    /// The targets of each block's edges.
    pub successors: Vec<Vec<usize>>,
    pub loops: Vec<Loop>,
    /// The loops around each block, innermost first.
    pub loops_of: Vec<Vec<usize>>,
    /// The immediate post-dominator of each block. It equals the number of blocks if that is outside the
    /// region.
    pub postdominators: Vec<usize>,
}

/// Blocks `head ..= last`.
#[derive(Clone, Copy)]
pub struct Loop {
    pub head: usize,
    pub last: usize,
}

impl Loop {
    pub fn contains(&self, block: usize) -> bool {
        (self.head..=self.last).contains(&block)
    }
}

/// Larger regions are rejected, because the sets of blocks grow quadratically.
const MAX_BLOCKS: usize = 1000;

/// `None` if a loop has a second entry, or no exit.
pub fn order(kernel: &Kernel, region: &Region) -> Option<Order> {
    let n = region.blocks.len();
    if n > MAX_BLOCKS {
        return None;
    }
    let number = |id: BlockId| region.blocks.iter().position(|&block| block == id);
    let edges = |id: &BlockId| kernel.blocks[id.0 as usize].end.edges();
    let successors: Vec<Vec<usize>> = region
        .blocks
        .iter()
        .map(|id| edges(id).iter().map(|edge| number(edge.to).expect("the region has it")).collect())
        .collect();
    let flow = Flow::new(&successors);
    let bodies = flow.loops(&successors)?;
    let sequence = sequence(&successors, &flow, &bodies);
    let mut place = vec![0; n];
    for (i, &node) in sequence.iter().enumerate() {
        place[node] = i;
    }
    let successors: Vec<Vec<usize>> =
        sequence.iter().map(|&node| successors[node].iter().map(|&to| place[to]).collect()).collect();
    let mut loops: Vec<Loop> = bodies
        .iter()
        .map(|body| {
            let last = (0..n).filter(|&node| body.blocks[node]).map(|node| place[node]).max();
            Loop { head: place[body.head], last: last.expect("a loop has its head") }
        })
        .collect();
    loops.sort_by_key(|found| found.last - found.head);
    let inside = |block: usize| (0..loops.len()).filter(|&i| loops[i].contains(block)).collect();
    Some(Order {
        blocks: sequence.iter().map(|&node| region.blocks[node]).collect(),
        postdominators: postdominators(&successors)?,
        loops_of: (0..n).map(inside).collect(),
        successors,
        loops,
    })
}

impl Order {
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Blocks that only some lanes may reach when they diverge at the end of `fork`.
    pub fn influence(&self, fork: usize) -> Vec<usize> {
        let postdominator = self.postdominators[fork];
        let mut found = vec![false; self.len()];
        let mut open = self.successors[fork].clone();
        while let Some(block) = open.pop() {
            if block != postdominator && !found[block] {
                found[block] = true;
                open.extend(&self.successors[block]);
            }
        }
        (0..self.len()).filter(|&block| found[block]).collect()
    }
}

/// Takes blocks whose forward predecessors are all taken; one of the innermost unfinished loop first.
fn sequence(successors: &[Vec<usize>], flow: &Flow, bodies: &[NaturalLoop]) -> Vec<usize> {
    let n = successors.len();
    let mut missing = vec![0; n];
    let forward =
        |from: usize| successors[from].iter().copied().filter(move |&to| !flow.is_back_edge(from, to));
    for from in 0..n {
        for to in forward(from) {
            missing[to] += 1;
        }
    }
    let rank: Vec<usize> = {
        let mut rank = vec![0; n];
        for (i, &node) in flow.order.iter().enumerate() {
            rank[node] = i;
        }
        rank
    };
    let mut open_loops: Vec<(&NaturalLoop, usize)> = Vec::new();
    let mut ready = vec![0];
    let mut sequence = Vec::with_capacity(n);
    while !ready.is_empty() {
        let innermost = open_loops.last().map(|(body, _)| *body);
        let fits = |node: usize| innermost.is_none_or(|body| body.blocks[node]);
        let best = (0..ready.len()).filter(|&i| fits(ready[i])).min_by_key(|&i| rank[ready[i]]);
        let node = ready.swap_remove(best.expect("an unfinished loop has a block that is ready"));
        sequence.push(node);
        if let Some(body) = bodies.iter().find(|body| body.head == node) {
            open_loops.push((body, body.blocks.iter().filter(|&&inside| inside).count()));
        }
        for (body, left) in &mut open_loops {
            *left -= usize::from(body.blocks[node]);
        }
        while open_loops.last().is_some_and(|(_, left)| *left == 0) {
            open_loops.pop();
        }
        for to in forward(node) {
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.push(to);
            }
        }
    }
    sequence
}

/// Immediate post-dominators: dominators of the reversed graph, whose entry is the end of the region.
fn postdominators(successors: &[Vec<usize>]) -> Option<Vec<usize>> {
    let n = successors.len();
    let mut turned = vec![Vec::new(); n + 1];
    for (from, targets) in successors.iter().enumerate() {
        if targets.is_empty() {
            turned[0].push(from + 1);
        }
        for &to in targets {
            turned[to + 1].push(from + 1);
        }
    }
    let flow = Flow::new(&turned);
    if flow.order.len() != n + 1 {
        return None;
    }
    let postdominator = |block: usize| flow.idom(block + 1).checked_sub(1).unwrap_or(n);
    Some((0..n).map(postdominator).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks each node's position and its immediate post-dominator; `-` is the end of the graph.
    fn check(successors: &[&[usize]], expected_order: &[usize], expected_postdominators: &str) {
        let successors: Vec<Vec<usize>> = successors.iter().map(|targets| targets.to_vec()).collect();
        let flow = Flow::new(&successors);
        let bodies = flow.loops(&successors).expect("loops have one entry");
        assert_eq!(sequence(&successors, &flow, &bodies), expected_order);
        let postdominators = postdominators(&successors).expect("every loop can end");
        let word = |postdominator: usize| {
            if postdominator == successors.len() { "-".to_owned() } else { postdominator.to_string() }
        };
        assert_eq!(
            postdominators.into_iter().map(word).collect::<Vec<_>>().join(" "),
            expected_postdominators
        );
    }

    #[test]
    fn arms_come_before_their_join() {
        check(&[&[1, 2], &[3], &[3], &[]], &[0, 2, 1, 3], "3 3 3 -");
    }

    #[test]
    fn blocks_after_a_loop_follow_all_of_it() {
        // 1 is the head, 2 exits or continues to 3, 3 goes back.
        check(&[&[1], &[4, 2], &[4, 3], &[1], &[]], &[0, 1, 2, 3, 4], "1 4 4 1 -");
    }
}
