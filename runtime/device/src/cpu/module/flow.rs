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
