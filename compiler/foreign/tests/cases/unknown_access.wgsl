@group(0) @binding(0) var<storage, read-write> a: array<f32>;
@compute @workgroup_size(1)
fn main() {
    a[0] = 1.0;
}
