#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 1) buffer I { int n[]; };
void main() { for (int k = 0; k < 3) { n[k] = k; } }
