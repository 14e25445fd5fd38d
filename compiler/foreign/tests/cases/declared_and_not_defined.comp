#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
float g(float x);
void main() { d[0] = g(1.0); }
