#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() { a[0] = 1.0; else a[1] = 2.0; }
