@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var q = array<f32, 2>(1.0, 2.0);
    var r = array<f32, 2>(a[0], a[1]);
    let same = q == r;
    a[0] = select(0.0, 1.0, same);
}
