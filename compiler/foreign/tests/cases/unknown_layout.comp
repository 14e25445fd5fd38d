#version 450
layout(local_size_x = 64) in;
layout(std432, set = 0, binding = 2) buffer B { float b[]; }; void main() { b[0] = 1.0; }
