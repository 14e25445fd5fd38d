#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint N = 0;
layout(binding = 0) buffer B { float a[]; };
void main() { float t[N]; t[0] = 1.0; a[0] = t[0]; }
