#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 1) buffer I { int n[]; };
struct S { int x; }; void main() { S s; s = 1; n[0] = s.x; }
