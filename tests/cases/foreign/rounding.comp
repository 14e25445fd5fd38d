// {"tensors": [["f32", [-1.5, -0.25, 0.5, 2.75]], ["f32", 28]], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    b[i * 7u] = floor(x);
    b[i * 7u + 1u] = ceil(x);
    b[i * 7u + 2u] = trunc(x);
    b[i * 7u + 3u] = fract(x);
    b[i * 7u + 4u] = mod(x, 1.25);
    b[i * 7u + 5u] = abs(x);
    b[i * 7u + 6u] = float(int(x * 4.0));
}
