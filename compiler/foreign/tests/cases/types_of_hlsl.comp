#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    float3 x;
}
