// {"tensors": [["f32", [1, 2, 3, 4, 5, 6]], ["f32", [1, 0, 2, 0, 1, 2, 1, 1, 0]], ["f32", 6]], "push": [2, 3, 3], "groups": [3, 2, 1]}
#version 450
layout(local_size_x = 1, local_size_y = 1) in;
layout(push_constant) uniform Shape { uint rows; uint inner; uint columns; } shape;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
void main() {
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    float sum = 0.0;
    for (uint k = 0u; k < shape.inner; k++) {
        sum += a[row * shape.inner + k] * b[k * shape.columns + column];
    }
    c[row * shape.columns + column] = sum;
}
