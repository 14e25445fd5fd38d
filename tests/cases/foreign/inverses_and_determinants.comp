// {"tensors": [["f32", [2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 1, 1, 1, 2]], ["f32", 16], ["f32", 12], ["f64", 8]]}
#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer Bones { mat4 bone; };
layout(std430, binding = 1) writeonly buffer Inverses { mat4 inverse_of_bone; };
layout(std430, binding = 2) writeonly buffer Numbers { float o[]; };
layout(std430, binding = 3) writeonly buffer Doubles { dmat2 wide; dvec4 more; };
void main() {
    inverse_of_bone = inverse(bone);
    mat3 upper = mat3(bone);
    o[0] = determinant(bone); o[1] = determinant(upper); o[2] = determinant(inverse(mat2(3, 1, 2, 1)));
    mat3x2 outer = outerProduct(vec2(1, 2), vec3(3, 4, 5));
    o[3] = outer[2][1];
    o[4] = transpose(outer)[1].z;
    vec3 normal = transpose(inverse(upper)) * vec3(0, 4, 1);
    o[5] = normal.x; o[6] = normal.y; o[7] = normal.z;
    mat2 product = mat2(1, 2, 3, 4);
    product *= mat2(0, 1, 1, 0);
    product += 1.0;
    o[8] = product[0][0]; o[9] = (vec2(1, 1) * product).y;
    o[10] = matrixCompMult(product, product)[1][1];
    o[11] = float(product == mat2(4, 5, 2, 3)) + 2.0 * float(mat3(mat2(7)) [2][2] == 1.0);
    dmat2 d = dmat2(1, 2, 3, 5);
    wide = inverse(d);
    more = dvec4(determinant(d), dot(d[0], d[1]), sqrt(2.0LF * double(o.length() - 4) / 4.0LF), fma(1.5LF, 2.0LF, 0.125LF));
}
