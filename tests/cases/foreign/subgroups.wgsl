// {"tensors": [["f32", [1, 2, 3, 4]], ["f32", 4], ["u32", 4]], "groups": [1, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@group(0) @binding(2) var<storage, read_write> votes: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    sums[lane] = subgroupAdd(a[lane]) + subgroupExclusiveAdd(a[lane]) * 100.0;
    let all_small = subgroupAll(a[lane] < 5.0);
    let any_large = subgroupAny(a[lane] > 4.0);
    votes[lane] = select(0u, 1u, all_small) + select(0u, 2u, any_large) + subgroupShuffleXor(lane, 1u) * 10u
        + subgroupBallot(a[lane] > 2.0).x * 100u;
}
