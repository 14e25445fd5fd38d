#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
layout(binding = 2) uniform U { float y; };
void main() { y = 2.0; data[0] = 1.0; }
