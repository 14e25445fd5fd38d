// {"tensors": [["u32", [0, 1, 2, 3, 3, 2, 3, 3, 0, 1]], ["u32", 4], ["i32", [0, 100, 0]]], "groups": [10, 1, 1]}
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> extremes: array<atomic<i32>>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    atomicAdd(&bins[data[id.x]], 1u);
    atomicMax(&extremes[0], i32(data[id.x]) * 10);
    atomicMin(&extremes[1], i32(id.x) - 5);
    atomicOr(&extremes[2], 1 << data[id.x]);
}
