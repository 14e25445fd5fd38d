// {"tensors": [["f32", [0.25, 0.5, 1, 1.5]], ["f32", 40]], "groups": [4, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = a[id.x];
    let at = id.x * 10u;
    b[at] = sin(x);
    b[at + 1u] = cos(x);
    b[at + 2u] = tanh(x);
    b[at + 3u] = atan2(x, 2.0);
    b[at + 4u] = exp(x);
    b[at + 5u] = log(x);
    b[at + 6u] = sqrt(x);
    b[at + 7u] = inverseSqrt(x);
    b[at + 8u] = pow(x, 2.5);
    b[at + 9u] = exp2(x) + log2(x);
}
