#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
const float K = 1.0;
void main() { K = 2.0; data[0] = 1.0; }
