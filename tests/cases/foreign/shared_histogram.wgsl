// {"tensors": [["u32", [0, 1, 2, 3, 3, 2, 3, 3, 0, 1, 1, 3, 7, 7, 5, 3]], ["u32", 8]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>>;
struct Counts { largest: atomic<u32>, seen: array<atomic<u32>, 8> }
var<workgroup> counts: Counts;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    atomicAdd(&counts.seen[data[id.x]], 1u);
    atomicMax(&counts.largest, data[id.x]);
    workgroupBarrier();
    atomicAdd(&bins[lane], atomicLoad(&counts.seen[lane]) + 100u * atomicLoad(&counts.largest));
}
