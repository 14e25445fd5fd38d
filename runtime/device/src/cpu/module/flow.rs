//! Control flow of one function: the order in which blocks are lowered, and dominators (Cooper, Harvey and
//! Kennedy, "A Simple, Fast Dominance Algorithm").

/// The analysis of a graph of `successors.len()` nodes with entry 0.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Reachable nodes in reverse postorder.
    pub order: Vec<usize>,
    /// Position in `order`; `usize::MAX` for unreachable nodes.
    place: Vec<usize>,
    /// Interval of each node in a walk over the dominator tree.
    enter: Vec<u32>,
    leave: Vec<u32>,
    /// The immediate dominator of each reachable node; that of the entry is the entry.
    idom: Vec<usize>,
    children: Vec<Vec<usize>>,
}

/// A loop with a single entry, its head.
pub struct NaturalLoop {
    pub head: usize,
    /// Whether each node is in it.
    pub blocks: Vec<bool>,
}

const NONE: usize = usize::MAX;

impl Flow {
    pub fn new(successors: &[Vec<usize>]) -> Flow {
        let order = reverse_postorder(successors);
        let mut place = vec![NONE; successors.len()];
        for (i, &node) in order.iter().enumerate() {
            place[node] = i;
        }
        let idom = immediate_dominators(successors, &order, &place);
        let children = children(&order, &idom);
        let (enter, leave) = intervals(order[0], &children);
        Flow { order, place, enter, leave, idom, children }
    }

    /// Whether every path to `b` goes through `a`. Both must be reachable.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.enter[a] <= self.enter[b] && self.leave[b] <= self.leave[a]
    }

    pub fn idom(&self, node: usize) -> usize {
        self.idom[node]
    }

    /// The nodes whose immediate dominator this is.
    pub fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// Whether it is a back edge, also of a node to itself.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.place[to] <= self.place[from]
    }

    /// The natural loops of reachable nodes, merged by head; `None` if the graph is irreducible.
    pub fn loops(&self, successors: &[Vec<usize>]) -> Option<Vec<NaturalLoop>> {
        let predecessors = predecessors(successors, &self.order);
        let mut loops: Vec<NaturalLoop> = Vec::new();
        for &from in &self.order {
            for &head in successors[from].iter().filter(|&&to| self.is_back_edge(from, to)) {
                if !self.dominates(head, from) {
                    return None;
                }
                let known = loops.iter().position(|known| known.head == head).unwrap_or_else(|| {
                    let mut blocks = vec![false; successors.len()];
                    blocks[head] = true;
                    loops.push(NaturalLoop { head, blocks });
                    loops.len() - 1
                });
                let mut open = vec![from];
                while let Some(node) = open.pop() {
                    if !std::mem::replace(&mut loops[known].blocks[node], true) {
                        open.extend(&predecessors[node]);
                    }
                }
            }
        }
        Some(loops)
    }
}

/// The predecessors of each node among reachable ones.
fn predecessors(successors: &[Vec<usize>], order: &[usize]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for &from in order {
        for &to in &successors[from] {
            predecessors[to].push(from);
        }
    }
    predecessors
}

fn reverse_postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((node, next)) = stack.last_mut() {
        let Some(&to) = successors[*node].get(*next) else {
            order.push(*node);
            stack.pop();
            continue;
        };
        *next += 1;
        if !seen[to] {
            seen[to] = true;
            stack.push((to, 0));
        }
    }
    order.reverse();
    order
}

fn immediate_dominators(successors: &[Vec<usize>], order: &[usize], place: &[usize]) -> Vec<usize> {
    let predecessors = predecessors(successors, order);
    let mut idom = vec![NONE; successors.len()];
    idom[order[0]] = order[0];
    let mut changed = true;
    while changed {
        changed = false;
        for &node in &order[1..] {
            let known = predecessors[node].iter().copied().filter(|&from| idom[from] != NONE);
            let new = known.reduce(|a, b| common(&idom, place, a, b)).unwrap_or(NONE);
            changed |= new != idom[node];
            idom[node] = new;
        }
    }
    idom
}

/// The nearest common dominator of two nodes.
fn common(idom: &[usize], place: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while place[a] > place[b] {
            a = idom[a];
        }
        while place[b] > place[a] {
            b = idom[b];
        }
    }
    a
}

fn children(order: &[usize], idom: &[usize]) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); idom.len()];
    for &node in &order[1..] {
        children[idom[node]].push(node);
    }
    children
}

fn intervals(root: usize, children: &[Vec<usize>]) -> (Vec<u32>, Vec<u32>) {
    let (mut enter, mut leave) = (vec![0; children.len()], vec![0; children.len()]);
    let mut clock = 0;
    let mut stack = vec![(root, 0)];
    while let Some((node, next)) = stack.last_mut() {
        if *next == 0 {
            clock += 1;
            enter[*node] = clock;
        }
        match children[*node].get(*next) {
            Some(&child) => {
                *next += 1;
                stack.push((child, 0));
            }
            None => {
                clock += 1;
                leave[*node] = clock;
                stack.pop();
            }
        }
    }
    (enter, leave)
}

#[cfg(test)]
mod tests {
    use super::Flow;

    /// Immediate dominators of nodes `1..`, in the order of the reachable nodes.
    fn check(successors: &[&[usize]], order: &[usize], idoms: &[usize]) {
        let successors: Vec<Vec<usize>> = successors.iter().map(|targets| targets.to_vec()).collect();
        let flow = Flow::new(&successors);
        assert_eq!(flow.order, order);
        assert_eq!(order[1..].iter().map(|&node| flow.idom(node)).collect::<Vec<_>>(), idoms);
        for &a in order {
            assert!(flow.dominates(0, a) && flow.dominates(a, a));
            assert!(a == 0 || !flow.dominates(a, flow.idom(a)));
        }
    }

    #[test]
    fn branches_are_dominated_by_their_fork() {
        check(&[&[1, 2], &[3], &[3], &[]], &[0, 2, 1, 3], &[0, 0, 0]);
    }

    #[test]
    fn loops_are_dominated_by_their_head() {
        check(&[&[1], &[2, 3], &[1], &[]], &[0, 1, 3, 2], &[0, 1, 1]);
        let flow = Flow::new(&[vec![1], vec![2, 3], vec![1], vec![]]);
        assert!(flow.is_back_edge(2, 1) && !flow.is_back_edge(1, 2));
    }

    #[test]
    fn a_loop_with_two_entries_is_dominated_from_outside() {
        check(&[&[1, 2], &[2], &[1, 3], &[]], &[0, 1, 2, 3], &[0, 0, 2]);
    }

    #[test]
    fn a_loop_with_two_entries_is_none() {
        let successors = [vec![1, 2], vec![2], vec![1, 3], vec![]];
        assert!(Flow::new(&successors).loops(&successors).is_none());
    }

    #[test]
    fn loops_of_one_head_are_one() {
        let successors = [vec![1], vec![2, 4], vec![1, 3], vec![1], vec![]];
        let loops = Flow::new(&successors).loops(&successors).expect("it has one entry");
        assert_eq!(loops.len(), 1);
        assert_eq!((loops[0].head, &loops[0].blocks[..]), (1, &[false, true, true, true, false][..]));
    }

    #[test]
    fn what_is_out_of_reach_is_left_out() {
        check(&[&[2], &[2], &[]], &[0, 2], &[0]);
    }
}
