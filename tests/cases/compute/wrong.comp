#version 450
#include "common/wrong.glsl"
layout(local_size_x = 1) in;
void main() { f(); }
