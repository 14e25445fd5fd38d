#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { float o[]; };
struct S { mat2 m; float k; };
void main() {
    S s;
    s.m = mat2(1.0);
    o[0] = s.m[1].y;
}
