@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@group(0) @binding(1) var t: texture_2d<f32>;
@group(0) @binding(2) var s: sampler;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[0] = textureSample(t, s, vec2(0.5)).x; }
