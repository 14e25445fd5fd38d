@group(0) @binding(0) var<storage, read_write> d: array<f32>;
@compute @workgroup_size(4,4) fn main(@builtin(subgroup_invocation_id) x: u32) { d[0] = f32(x); }
