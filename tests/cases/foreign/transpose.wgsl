// {"tensors": [["i32", [1, 2, 3, 4, 5, 6]], ["i32", 6]], "groups": [3, 2, 1]}
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> b: array<i32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) n: vec3u) {
    b[id.x * n.y + id.y] = a[id.y * n.x + id.x];
}
