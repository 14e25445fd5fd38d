struct Input { @builtin(global_invocation_id) id: vec3<u32>, n: u32 }
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1)
fn main(input: Input) { a[input.id.x] = f32(input.n); }
