#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() { const float k = 1.0; k = 2.0; a[0] = k; }
