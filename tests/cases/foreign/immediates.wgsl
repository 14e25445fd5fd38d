// {"tensors": [["f32", [1, 2, 3, 4]], ["f32", 4]], "groups": [4, 1, 1], "push": [10.0, 0.5]}
struct Line { slope: f32, start: f32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
var<immediate> line: Line;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    b[id.x] = line.slope * a[id.x] + line.start;
}
