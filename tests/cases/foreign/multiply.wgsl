// {"tensors": [["f32", [2, 4, 6]], ["f32", [0.5, 2, -1]], ["f32", 3]], "groups": [3, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(1)
fn multiply(@builtin(global_invocation_id) id: vec3u) {
    c[id.x] = a[id.x] * b[id.x];
}
