#version 450
#define M m[i++][i++]
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { int i = 0; float m[2][2]; data[0] = M + M; }
