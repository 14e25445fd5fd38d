#version 450
layout(local_size_x_id = 3) in;
layout(constant_id = 3) const uint N = 0;
layout(binding = 0) buffer B { float a[]; };
void main() { a[0] = 1.0; }
