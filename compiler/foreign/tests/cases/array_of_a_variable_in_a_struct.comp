#version 450
layout(local_size_x = 64) in;
struct S { float values[3]; int n; };
layout(std430, binding = 0) buffer A { float data[]; };
void main() {
    float x[3] = float[](1.0, 2.0, 3.0);
    S s = S(x, 3);
    data[gl_GlobalInvocationID.x] = s.values[1];
}
