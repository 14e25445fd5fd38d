#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
#define K 3;
void main() { a[K] = 1.0; }
