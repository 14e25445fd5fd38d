@group(0) @binding(0) var<storage, read_write> data: array<f32>;
fn f(p: ptr<storage, array<f32>, read_write>) { (*p)[0] = 1.0; }
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { f(&data); }
