// {"tensors": [["f32", [-1, 0, 0.25, 0.5, 1, 2]], ["f32", 30]], "groups": [6, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = a[id.x];
    let at = id.x * 5u;
    b[at] = saturate(x);
    b[at + 1u] = mix(10.0, 20.0, x);
    b[at + 2u] = step(0.5, x);
    b[at + 3u] = smoothstep(0.0, 1.0, x);
    b[at + 4u] = select(max(x, 0.75) + min(x, 0.5) + sign(x), -x, x < 0.0);
}
