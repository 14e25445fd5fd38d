// {"tensors": [["i32", [7, -7, 2147483647, -2147483648]], ["i32", [2, 0, -1, -1]], ["i32", 8]], "groups": [4, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> c: array<i32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    c[id.x * 2u] = a[id.x] / b[id.x];
    c[id.x * 2u + 1u] = a[id.x] % b[id.x];
}
