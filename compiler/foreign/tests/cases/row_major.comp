#version 450
layout(local_size_x = 4) in;
layout(std430, row_major, binding = 0) buffer Out { mat4 data[]; };
void main() { data[0][0][0] = 1.0; }
