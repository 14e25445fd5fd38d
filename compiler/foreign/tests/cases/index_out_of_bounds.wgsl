@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { var t: array<f32, 4>; t[5] = 1.0; data[0] = t[id.x]; let z = vec2(1.0); data[1] = z[3]; }
