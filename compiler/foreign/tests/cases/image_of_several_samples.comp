#version 450
layout(local_size_x = 4) in;
layout(binding = 1, r32f) uniform image2DMS b;
layout(binding = 2) uniform texture2DMS c;
void main() { imageStore(b, ivec2(0), 0, vec4(1.0)); }
