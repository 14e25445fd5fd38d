#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
float k = d[0];
void main() { d[0] = k; }
