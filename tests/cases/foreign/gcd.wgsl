// {"tensors": [["u32", [12, 18, 17, 5, 100, 75, 0, 9]], ["u32", 4]], "groups": [4, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<vec2u>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
fn gcd(first: u32, second: u32) -> u32 {
    var pair = vec2u(first, second);
    while pair.y != 0u { pair = vec2u(pair.y, pair.x % pair.y); }
    return pair.x;
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    b[id.x] = gcd(a[id.x].x, a[id.x].y);
}
