#version 450
layout(local_size_x_id = 0) in;
layout(binding = 0) buffer Out { float data[]; };
void main() { data[0] = 1.0; }
