// {"tensors": [["i32", [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]], ["i32", 25]], "groups": [5, 5, 1]}
const SIZE = 5;
@group(0) @binding(0) var<storage, read> now: array<i32>;
@group(0) @binding(1) var<storage, read_write> next: array<i32>;
fn at(x: i32, y: i32) -> i32 {
    return now[((y + SIZE) % SIZE) * SIZE + (x + SIZE) % SIZE];
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = i32(id.x);
    let y = i32(id.y);
    var around = -at(x, y);
    for (var dy = -1; dy <= 1; dy++) {
        for (var dx = -1; dx <= 1; dx++) { around += at(x + dx, y + dy); }
    }
    next[y * SIZE + x] = select(0, 1, around == 3 || (at(x, y) == 1 && around == 2));
}
