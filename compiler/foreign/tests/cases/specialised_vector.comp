#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(constant_id=0) const vec2 a = vec2(1.0);
void main() { d[0] = a.x; }
