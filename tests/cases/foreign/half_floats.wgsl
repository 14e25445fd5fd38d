// {"tensors": [["f32", [0.1, 2.5, 1000, -3]], ["f32", 16]], "groups": [4, 1, 1]}
enable f16;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = f16(a[id.x]);
    let v = vec3<f16>(x, x * 2.0h, 1.0h);
    b[id.x * 4u] = f32(x + 0.5h);
    b[id.x * 4u + 1u] = f32(dot(v, vec3<f16>(0.0h, 1.0h, 0.0h)));
    b[id.x * 4u + 2u] = f32(max(v.x, v.z) - min(v.x, v.z));
    b[id.x * 4u + 3u] = f32(i32(floor(x))) + f32(u32(abs(x)));
}
