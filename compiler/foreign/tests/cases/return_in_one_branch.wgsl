@group(0) @binding(0) var<storage, read_write> a: array<f32>;
fn f(x: f32) -> f32 { if (x > 0.0) { return 1.0; } }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    a[0] = f(1.0);
}
