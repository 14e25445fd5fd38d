@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1)
fn main(id: vec3<u32>) { a[id.x] = 1.0; }
