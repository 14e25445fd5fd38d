// {"tensors": [["f32", [2, 0, 1, 0, 0, 3, 0, 0, 1, 0, 1, 0]], ["f32", 12]]}
@group(0) @binding(0) var<storage, read> m: mat3x3f;
@group(0) @binding(1) var<storage, read_write> b: array<vec4f>;
@compute @workgroup_size(1)
fn main() {
    b[0] = vec4f(m * vec3f(1.0, 2.0, 3.0), determinant(m));
    b[1] = vec4f(transpose(m)[0] * 2.0, m[2][0]);
    b[2] = vec4f((m * m)[1], 0.0);
}
