#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { vec2 v = vec2(1.0, data[0], 3.0); ivec3 u = ivec3(ivec2(1), vec2(2.0)); data[0] = v.x + float(u.x); }
