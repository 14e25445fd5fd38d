#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
#ifdef A
void main() { d[0] = 1.0; }
