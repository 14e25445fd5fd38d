#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() { switch (a[0]) { case 1: a[0] = 1.0; break; } }
