@group(0) @binding(0) var<storage, read_write> d: array<f32>;
@group(0) @binding(1) var t: texture_2d<f32>;
fn f() { let x = textureLoad(t, vec3u(0), 0); }
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    d[0] = 1.0;
}
