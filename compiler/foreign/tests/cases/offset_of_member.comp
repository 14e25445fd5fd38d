#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { layout(offset = 16) float x; layout(align = 16) float data[]; };
void main() { data[0] = x; }
