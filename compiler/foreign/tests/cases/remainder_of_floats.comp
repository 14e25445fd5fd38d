#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { float x = data[1]; x %= 2.0; int i = 7 % int(5.5); data[0] = x + float(i); }
