#version 450
layout(local_size_x = 4) in;
layout(binding = 1, r32f) uniform imageBuffer b;
void main() { imageStore(b, 0, vec4(1.0)); }
