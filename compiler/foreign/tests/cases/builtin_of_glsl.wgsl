@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(4) fn main() { let i = gl_GlobalInvocationID.x; data[i] = float(1); }
