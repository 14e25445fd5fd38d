#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
float twice(const in float x) { return 2.0 * x; }
void main() { data[0] = twice(1.0); }
