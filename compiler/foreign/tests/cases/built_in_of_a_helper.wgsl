@group(0) @binding(0) var<storage, read_write> a: array<f32>;
fn first(@builtin(global_invocation_id) id: vec3<u32>) -> u32 { return id.x; }
@compute @workgroup_size(1)
fn main() { a[0] = 1.0; }
