@group(0) @binding(0) var<storage, read_write> d: array<f32>;
layout(set=0) buffer B { float e[]; };
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x;
    d[0] = 1.0;
}
