@group(0) @binding(0) var<storage, read_write> d: array<f32>;
@group(0) @binding(1) var e: binding_array<array<f32>, 3>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    d[0] = 1.0;
}
