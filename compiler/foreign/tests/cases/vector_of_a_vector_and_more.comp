#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { ivec3 u = ivec3(vec3(1.0), 2); data[0] = float(u.x); }
