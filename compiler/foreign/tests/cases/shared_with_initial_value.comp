#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
shared float total = 0.0;
void main() { data[0] = total; }
