// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]], ["f32", 2]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<workgroup> part: array<f32, 8>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) lane: vec3u, @builtin(workgroup_id) group: vec3u) {
    part[lane.x] = a[id.x];
    workgroupBarrier();
    for (var stride = 4u; stride > 0u; stride /= 2u) {
        if lane.x < stride { part[lane.x] += part[lane.x + stride]; }
        workgroupBarrier();
    }
    if lane.x == 0u { sums[group.x] = part[0]; }
}
