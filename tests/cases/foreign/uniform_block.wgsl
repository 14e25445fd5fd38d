// {"tensors": [["f32", [1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 10, 20, 30, 1]], ["f32", [1, 1, 1, 1, 2, 0, -1, 1]]], "groups": [2, 1, 1]}
@group(0) @binding(0) var<uniform> transform: mat4x4f;
@group(0) @binding(1) var<storage, read_write> points: array<vec4f>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    points[id.x] = transform * points[id.x];
}
