#version 450
layout(local_size_x = 4) in;
layout(std140, binding = 1) uniform Params { mat2 m; };
layout(binding = 0) buffer Out { float data[]; };
void main() { data[0] = m[1][1]; }
