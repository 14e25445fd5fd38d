#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { float a[]; };
layout(binding = 0) buffer B { float b[]; };
void main() { b[0] = a[0]; }
