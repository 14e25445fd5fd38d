#version 450
layout(local_size_x = 4) in;
layout(binding = 1, r32ui) uniform uimage2D b;
void main() { imageAtomicAdd(b, ivec2(0), 1u); }
