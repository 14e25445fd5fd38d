// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]], ["f32", 4]]}
// One struct, and one array of arrays, in a buffer and in the memory of the workgroup, which begins with zeros.
struct Half { at: vec2f, weight: f32 }
struct Body { half: Half, speed: array<f32, 2> }
@group(0) @binding(0) var<storage, read_write> bodies: array<Body, 2>;
@group(0) @binding(1) var<storage, read_write> table: array<array<f32, 2>, 2>;
var<workgroup> tile: array<Body, 2>;
var<workgroup> rows: array<array<f32, 2>, 2>;

@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    let before = tile[i].half.weight + rows[i][0];
    workgroupBarrier();
    tile[i] = bodies[i];
    rows[i] = tile[i].speed;
    workgroupBarrier();
    if i == 0 {
        let row = rows[1];
        rows[1][0] = row[1];
        rows[1][1] = row[0];
    }
    workgroupBarrier();
    var own = tile[1 - i];
    own.half.weight += before + 0.5;
    bodies[i] = own;
    table[i] = rows[1 - i];
}
