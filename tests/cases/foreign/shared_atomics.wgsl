// {"tensors": [["i32", [5, -3, 8, 1, 9, 9, 2, -7]], ["i32", 2]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<storage, read> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> sums: array<i32>;
var<workgroup> total: atomic<i32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3u) {
    atomicAdd(&total, data[id.x]);
    workgroupBarrier();
    if lane == 0u { sums[group.x] = atomicLoad(&total); }
}
