// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8]], ["f32", [10, 20, 30, 40, 50, 60, 70, 80]], ["f32", [0.5]]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> factor: f32;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&x) { return; }
    y[id.x] += factor * x[id.x];
}
