//! Control flow of one function: the order in which blocks are lowered and who dominates whom.
//! Dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".

/// What is known of a graph of `successors.len()` nodes entered at node 0.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// Reachable nodes in reverse postorder.
    pub order: Vec<usize>,
    /// Place in `order`; `usize::MAX` for nodes out of reach.
    place: Vec<usize>,
    /// Interval of each node in a walk over the dominator tree.
    enter: Vec<u32>,
    leave: Vec<u32>,
    /// The immediate dominator of each reachable node; the entry is its own.
    idom: Vec<usize>,
    children: Vec<Vec<usize>>,
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

    /// Whether every way to `b` leads through `a`. Both must be in reach.
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

    /// Whether an edge goes back, or to its own start.
    pub fn is_back_edge(&self, from: usize, to: usize) -> bool {
        self.place[to] <= self.place[from]
    }
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
    let mut predecessors = vec![Vec::new(); successors.len()];
    for &node in order {
        for &to in &successors[node] {
            predecessors[to].push(node);
        }
    }
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

/// The nearest dominator that two nodes share.
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

    /// Immediate dominators of nodes `1..`, in the order of the nodes that are in reach.
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
    fn what_is_out_of_reach_is_left_out() {
        check(&[&[2], &[2], &[]], &[0, 2], &[0]);
    }
}
