// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36]], ["f32", 12]]}
struct Inner { scale: f32, @align(8) offset: vec2f, @size(16) weight: f32 }
struct Outer { rows: mat3x2f, inner: array<Inner, 2>, turn: mat2x3f, rest: array<f32> }
@group(0) @binding(0) var<storage, read> a: Outer;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let rows = a.rows;
    var total = vec2f();
    for (var i = 0u; i < 3u; i++) {
        total += rows[i] * f32(i + 1u);
    }
    b[0] = total.x;
    b[1] = total.y;
    for (var i = 0u; i < 2u; i++) {
        b[2u + i] = a.inner[i].scale * a.inner[i].weight + a.inner[i].offset.y;
        b[4u + i] = a.turn[i][2u - i];
    }
    b[6] = f32(arrayLength(&a.rest));
    b[7] = a.rest[2];
    let square = transpose(a.turn) * a.turn;
    b[8] = square[0][1];
    b[9] = (a.rows * vec3f(1.0, 2.0, 3.0)).y;
    b[10] = determinant(square);
    b[11] = dot(a.turn[1], vec3f(1.0));
}
