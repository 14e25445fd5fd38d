#version 450
layout(local_size_x = 4) in;
layout(binding = 1, r32f) uniform imageCube b;
void main() { imageStore(b, ivec3(0), vec4(1.0)); }
