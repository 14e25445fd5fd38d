// {"tensors": [["i32", 8]], "groups": [8, 1, 1]}
@group(0) @binding(0) var<storage, read_write> a: array<i32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let bits = (vec3u(id.x) & vec3u(1u, 2u, 4u)) != vec3u();
    var result = 0;
    if bits.x && bits.y || bits.z { result += 1; }
    if !bits.x && (bits.y || bits.z) { result += 2; }
    if any(bits) && !all(bits) { result += 4; }
    if bits.x == bits.y { result += 8; }
    a[id.x] = result;
}
