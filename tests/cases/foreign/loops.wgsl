// {"tensors": [["i32", 6]], "groups": [6, 1, 1]}
@group(0) @binding(0) var<storage, read_write> a: array<i32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let n = i32(id.x);
    var sum = 0;
    for (var i = 0; i < 10; i++) {
        if i == n { continue; }
        for (var j = 0; ; j++) {
            if j > i { break; }
            if j == 3 {
                sum += 100;
                break;
            }
            sum += j;
        }
        if sum > 500 { break; }
    }
    a[n] = sum;
}
