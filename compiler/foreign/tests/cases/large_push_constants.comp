#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(push_constant) uniform P { float a[1000]; };
void main() { d[0] = a[5]; }
