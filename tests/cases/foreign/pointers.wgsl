// {"tensors": [["i32", [17, 5, -17, 5, 100, 7]], ["i32", 6]], "groups": [3, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<vec2i>;
@group(0) @binding(1) var<storage, read_write> b: array<vec2i>;
fn divide(x: i32, y: i32, quotient: ptr<function, i32>, rest: ptr<function, i32>) {
    *quotient = x / y;
    *rest = x % y;
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var quotient: i32;
    var rest: i32;
    divide(a[id.x].x, a[id.x].y, &quotient, &rest);
    b[id.x] = vec2i(quotient, -rest);
}
