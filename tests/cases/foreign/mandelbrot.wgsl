// {"tensors": [["i32", 64]], "groups": [2, 2, 1]}
@group(0) @binding(0) var<storage, read_write> counts: array<i32>;
@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let c = vec2f(-2.0, -1.25) + vec2f(id.xy) * vec2f(0.375, 0.3125);
    var z = vec2f();
    var n = 0;
    loop {
        if n >= 50 || dot(z, z) >= 4.0 { break; }
        z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        continuing { n++; }
    }
    counts[id.y * 8u + id.x] = n;
}
