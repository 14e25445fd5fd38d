@group(0) @binding(0) var<storage, read_write> a: array<f32>;
var<private> x: f32;
fn inc(p: ptr<function, f32>) { *p = 1.0; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    inc(&x); a[0] = x;
}
