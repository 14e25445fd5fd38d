#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
float f(float x) { if (x > 0.0) return 1.0; }
void main() { data[0] = f(data[1]); }
