@group(0) @binding(0) var<storage, read_write> d: array<f32>;
@compute @workgroup_size(1) fn main(@builtin(position) x: vec4f) { d[0] = 1.0; }
