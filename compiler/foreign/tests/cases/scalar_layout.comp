#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { vec3 data[]; };
layout(scalar, binding = 1) buffer Out2 { vec3 data2[]; };
void main() { data[0] = vec3(1.0); }
