// {"tensors": [["f32", [2, 0, 1, 0, 0, 3, 0, 0, 1, 0, 1, 0]], ["f32", 16]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { vec4 columns[]; };
layout(binding = 1) buffer B { vec4 b[]; };
void main() {
    mat3 m = mat3(columns[0].xyz, columns[1].xyz, columns[2].xyz);
    mat3 inverted = inverse(m);
    mat3 product = m * inverted;
    b[0] = vec4(inverted[0] + 1.0, determinant(m));
    b[1] = vec4(product[0], 0.0);
    b[2] = vec4(m * vec3(1.0, 2.0, 3.0), 0.0);
    b[3] = vec4(transpose(m)[0] * 2.0, m[2][0]);
}
