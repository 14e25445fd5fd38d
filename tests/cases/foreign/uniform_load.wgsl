// {"tensors": [["u32", [5, 1, 4, 2]], ["u32", 8]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
var<workgroup> rounds: u32;
var<workgroup> tile: array<u32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) group: vec3u) {
    if lane == 0u {
        rounds = a[group.x] % 4u;
    }
    let n = workgroupUniformLoad(&rounds);
    tile[lane] = a[lane];
    for (var i = 0u; i < n; i++) {
        workgroupBarrier();
        let next = tile[(lane + 1u) % 4u];
        workgroupBarrier();
        tile[lane] += next;
    }
    b[group.x * 4u + lane] = tile[lane];
}
