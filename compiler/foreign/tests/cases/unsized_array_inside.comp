#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(set=0,binding=1) buffer C { float e[]; float f; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    e[0] = 1.0;
}
