#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
float f(float x) { if (x > 0.0) return 1.0; } void main() { a[0] = f(1.0); }
