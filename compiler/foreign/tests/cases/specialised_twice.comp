#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(constant_id=0) const int a = 1;
layout(constant_id=0) const int b = 1;
void main() { d[0] = float(a+b); }
