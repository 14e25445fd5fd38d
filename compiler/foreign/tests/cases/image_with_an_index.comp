#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
layout(set=0, binding=2, r32f) uniform image2D t; void main() { a[0] = t[0]; }
