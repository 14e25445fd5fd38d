// {"tensors": [["u32", [1, 77777, 4000000000]], ["u32", 24]], "groups": [3, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<vec2u>;
fn halves(x: u64) -> vec2u {
    return vec2u(u32(x & 4294967295lu), u32(x >> 32u));
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = u64(a[id.x]) * 4000000001lu;
    let y = i64(a[id.x]) - 100000li;
    b[id.x * 4u] = halves(x);
    b[id.x * 4u + 1u] = halves(x / 1000003lu + x % 10007lu);
    b[id.x * 4u + 2u] = halves(u64(y * y)) + vec2u(u32(y < 0li), u32(max(y, 5li) > 5li));
    b[id.x * 4u + 3u] = vec2u(u32(clamp(y, -7li, 7li) + 7li), countOneBits(u32(x)));
}
