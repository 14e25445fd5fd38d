#version 450
layout(local_size_x = 64) in;
struct Q { vec2 a; float b[3]; };
struct R { Q q; int n; };
layout(std430, binding = 0) buffer A { Q data[]; };
void main() {
    R r = R(data[gl_GlobalInvocationID.x], 1);
    data[gl_GlobalInvocationID.x] = r.q;
}
