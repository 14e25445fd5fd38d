#version 450
layout(local_size_x = 1) in;
struct Q { vec2 p; float w[3]; };
layout(std430, binding = 0) buffer B { Q a[]; };
float f(Q q) { return q.w[0]; }
void main() { a[0].w[1] = f(a[1]); }
