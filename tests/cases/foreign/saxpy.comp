// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8]], ["f32", [10, 20, 30, 40, 50, 60, 70, 80]]], "push": [0.5, 6], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform Settings { float a; uint n; } settings;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= settings.n) {
        return;
    }
    y[i] = settings.a * x[i] + y[i];
}
