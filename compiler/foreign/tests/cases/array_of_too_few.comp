#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() { float t[3] = float[](1.0, 2.0); a[0] = t[0]; }
