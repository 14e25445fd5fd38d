@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(0) fn main() { data[0] = 1.0; }
