@group(0) @binding(0) var<storage, read_write> data: array<f32>;
struct P { a: f32 }
var<push_constant> p: P;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[0] = p.a; }
