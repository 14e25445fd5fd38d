// {"tensors": [["i32", 8]], "groups": [8, 1, 1]}
@group(0) @binding(0) var<storage, read_write> a: array<i32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = i32(id.x);
    var result = 0;
    switch i {
        case 0: { result = 100; }
        case 1, 2: { result = 200 + i; }
        case 5: { result = -1; }
        default: { result = i * i; }
    }
    a[id.x] = result;
}
