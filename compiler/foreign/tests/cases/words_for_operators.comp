#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i > 1u and i < 3u) x[i] = 1.0;
}
