#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
shared float a[1000000000];
void main() {
    uint i = gl_GlobalInvocationID.x;
    a[0] = 1.0; d[0] = a[0];
}
