// {"tensors": [["f32", 4], ["i32", 4]], "spec": [2.5, 7], "groups": [4, 1, 1]}
@id(0) override scale: f32 = 1.0;
@id(1) override offset: i32 = 0;
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<i32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    a[id.x] = f32(id.x) * scale;
    b[id.x] = i32(id.x) + offset * 2;
}
