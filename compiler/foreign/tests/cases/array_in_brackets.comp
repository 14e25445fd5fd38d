#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 1) buffer I { int n[]; };
void main() { int t[] = [1, 2, 3]; n[0] = t[0]; }
