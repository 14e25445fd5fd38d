#version 450
#include "common/lost.glsl"
void main() {}
