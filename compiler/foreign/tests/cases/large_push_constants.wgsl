@group(0) @binding(0) var<storage, read_write> d: array<f32>;
var<immediate> a: array<f32, 1000>;
@compute @workgroup_size(1) fn main() { d[0] = a[5]; }
