[[group(0), binding(0)]] var<storage, read_write> data: array<f32>;
[[stage(compute), workgroup_size(4)]] fn main() { data[0] = 1.0; }
