#version 450
layout(local_size_x = 64) in;
struct P { vec2 at; int n; };
layout(binding = 0) buffer A { P data[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    data[i] = P(vec2(1.0), i);
}
