#version 460 core
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) coherent buffer Out { float data[]; };
void main() { data[0] = 1.0; }
