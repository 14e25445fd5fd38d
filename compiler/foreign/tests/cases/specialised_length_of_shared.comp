#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const int N = 4;
layout(binding = 0) buffer Out { float data[]; };
shared float tile[N];
void main() { tile[0] = 1.0; data[0] = tile[0]; }
