#version 450
layout(local_size_x = 4) in;
layout(binding = 0) uniform writeonly image2D a;
void main() { imageStore(a, ivec2(0), vec4(1.0)); }
