override n: u32 = 0;
var<workgroup> t: array<f32, n>;
@compute @workgroup_size(1) fn main() { t[0] = 1.0; }
