@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var t: texture_2d<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    a[0] = textureLoad(t, vec2<i32>(0)).x;
}
