// {"tensors": [["f32", [-1.5, -0.25, 0.5, 2.75]], ["f32", 32]], "groups": [4, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = a[id.x];
    let at = id.x * 8u;
    b[at] = floor(x);
    b[at + 1u] = ceil(x);
    b[at + 2u] = trunc(x);
    b[at + 3u] = fract(x);
    b[at + 4u] = round(x);
    b[at + 5u] = abs(x);
    b[at + 6u] = f32(i32(x * 4.0));
    b[at + 7u] = x % 1.25;
}
