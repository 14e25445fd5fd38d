#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
#define K dvec2(0.5, 1.0)
void main() { data[0] = vec2(K).x; }
