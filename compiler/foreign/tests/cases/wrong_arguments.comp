#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
float f(float x) { return x; }
void main() { data[0] = f(1.0, 2.0); data[1] = sin(vec2(1.0)); data[2] = dot(1, vec2(1)); data[3] = max(vec2(1.0), ivec2(1)); }
