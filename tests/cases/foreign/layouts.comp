// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36]], ["f32", 8]]}
#version 450
layout(local_size_x = 1) in;
struct Inner { float scale; vec2 offset; vec3 weight; };
layout(std430, set = 0, binding = 0) readonly buffer A { mat2x3 turn; Inner inner[2]; float rest[]; };
layout(set = 0, binding = 1) writeonly buffer B { float b[]; };
void main() {
    float total = 0.0;
    for (int i = 0; i < 2; i++) {
        total += inner[i].scale * inner[i].offset.y + inner[i].weight.z;
    }
    b[0] = total;
    b[1] = turn[1].z;
    b[2] = (turn * vec2(1.0, 2.0)).x;
    b[3] = (vec3(1.0, 2.0, 3.0) * turn).y;
    b[4] = float(rest.length());
    b[5] = rest[2];
    b[6] = transpose(turn)[2].y;
    b[7] = dot(inner[1].weight.zyx, vec3(1.0, 2.0, 3.0));
}
