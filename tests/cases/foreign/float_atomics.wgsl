// {"tensors": [["f32", [0.5, 1.5, 2.0, 4.0]], ["f32", 1], ["u64", 1]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> sum: atomic<f32>;
@group(0) @binding(2) var<storage, read_write> wide: array<atomic<u64>, 1>;
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    atomicAdd(&sum, a[id.x]);
    atomicMax(&wide[0], u64(a[id.x]) * 5000000000lu);
}
