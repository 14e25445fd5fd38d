#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
int f(int n) { return n < 2 ? 1 : n * f(n - 1); }
void main() { d[0] = float(f(3)); }
