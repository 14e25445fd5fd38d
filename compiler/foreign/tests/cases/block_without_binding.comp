#version 450
layout(local_size_x = 4) in;
buffer Out { float data[]; };
void main() { data[0] = 1.0; }
