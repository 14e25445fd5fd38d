#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const int N = 4;
const int M = N * 2;
layout(binding = 0) buffer Out { float data[]; };
void main() { data[0] = float(M); }
