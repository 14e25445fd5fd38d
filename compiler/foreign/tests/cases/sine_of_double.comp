#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer Out { double data[]; };
void main() { data[1] = sin(data[0]); }
