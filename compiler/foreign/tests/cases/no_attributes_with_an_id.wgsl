@group(0) @binding(0) var<storage, read_write> a: array<f32>;
fn main(@builtin(global_invocation_id) id: vec3<u32>) { a[id.x] = 1.0; }
