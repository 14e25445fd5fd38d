//! A pseudorandom order of workgroups and invocations, which depends only on a seed.
//!
//! Steps that are coprime to `n` visit each number below `n` once. So workgroup `i` of `n` is `(i * step +
//! start) % n`, and likewise along each axis of a workgroup.

/// The order of one dispatch.
pub struct Order {
    seed: u64,
    n_groups: u64,
    groups: Steps,
    local_size: [u32; 3],
}

/// `(i * step + start) % n`.
#[derive(Clone, Copy)]
struct Steps {
    step: u64,
    start: u64,
}

impl Order {
    pub fn new(seed: u64, n_groups: u64, local_size: [u32; 3]) -> Order {
        Order { seed, n_groups, groups: steps(seed, n_groups), local_size }
    }

    /// The workgroup at position `i`.
    pub fn group(&self, i: u64) -> u64 {
        let Steps { step, start } = self.groups;
        ((u128::from(i) * u128::from(step) + u128::from(start)) % u128::from(self.n_groups.max(1))) as u64
    }

    /// Step and start along each axis of a workgroup.
    pub fn lanes(&self, group: u64) -> [[u32; 2]; 3] {
        let seed = mixed(self.seed ^ group.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        std::array::from_fn(|axis| {
            let Steps { step, start } = steps(seed.wrapping_add(axis as u64), self.local_size[axis].into());
            [step as u32, start as u32]
        })
    }
}

fn steps(seed: u64, n: u64) -> Steps {
    if n < 2 {
        return Steps { step: 1, start: 0 };
    }
    let first = 1 + mixed(seed) % (n - 1);
    let step = (first..n).chain(1..first).find(|&step| have_no_divisor(step, n)).unwrap_or(1);
    Steps { step, start: mixed(seed ^ n) % n }
}

fn have_no_divisor(mut a: u64, mut b: u64) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}

/// A hash of all bits of a number (Steele and others, "Fast splittable pseudorandom number generators",
/// 2014).
fn mixed(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn every_workgroup_runs_once() {
        for n in [1, 2, 7, 12, 64, 1000] {
            let order = Order::new(3, n, [8, 6, 1]);
            let mut groups: Vec<u64> = (0..n).map(|i| order.group(i)).collect();
            groups.sort();
            assert_eq!(groups, (0..n).collect::<Vec<u64>>());
            for ([step, start], size) in order.lanes(n / 2).into_iter().zip([8, 6, 1]) {
                let mut lanes: Vec<u32> = (0..size).map(|i| (i * step + start) % size).collect();
                lanes.sort();
                assert_eq!(lanes, (0..size).collect::<Vec<u32>>());
            }
        }
    }
}
