// {"tensors": [["f32", [1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 10, 20, 30, 1]], ["f32", [1, 1, 1, 1, 2, 0, -1, 1]]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(std140, binding = 0) uniform Transform { mat4 matrix; };
layout(std430, binding = 1) buffer Points { vec4 points[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    points[i] = matrix * points[i];
}
