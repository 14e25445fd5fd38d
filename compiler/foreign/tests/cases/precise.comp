#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
precise float q;
void main() { precise float z = 1.0; data[0] = z; invariant float x; }
