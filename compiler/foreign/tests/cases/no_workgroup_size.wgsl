@group(0) @binding(0) var<storage, read_write> d: array<f32>;
@compute fn main() { d[0] = 1.0; }
