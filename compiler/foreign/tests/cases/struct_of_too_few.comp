#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
struct S { float a; float b; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    S s = S(1.0); d[0] = s.a;
}
