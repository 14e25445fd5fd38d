@group(0) @binding(0) var<storage, read_write> data: array<f32>;
fn f(x: f32) -> f32 {
    return g(x);
}
fn g(x: f32) -> f32 {
    return f(x);
}
@compute @workgroup_size(1)
fn main() {
    data[0] = f(1.0);
}
