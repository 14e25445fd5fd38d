#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
struct S { float x = 1.0; };
void main() { S s; a[0] = s.x; }
