// {"tensors": [["f32", [0.25, 0.5, 1, 1.5]], ["f32", 40]], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    uint at = i * 10u;
    b[at + 0u] = sin(x);
    b[at + 1u] = cos(x);
    b[at + 2u] = tan(x);
    b[at + 3u] = atan(x, 2.0);
    b[at + 4u] = exp(x);
    b[at + 5u] = log(x);
    b[at + 6u] = sqrt(x);
    b[at + 7u] = inversesqrt(x);
    b[at + 8u] = pow(x, 2.5);
    b[at + 9u] = exp2(x) + log2(x);
}
