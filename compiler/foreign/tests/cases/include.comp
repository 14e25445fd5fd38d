#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { data[0] = 1.0; }
