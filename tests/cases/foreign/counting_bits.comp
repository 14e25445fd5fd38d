// {"tensors": [["u32", [0, 1, 6, 2147483648, 4294967295]], ["i32", 15], ["f32", 5]], "groups": [5, 1, 1]}
// What counts bits gives an `int`, of a `uint` too: -1 is below 0.
#version 450 core
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { uint a[]; };
layout(binding = 1) buffer B { int b[]; };
layout(binding = 2) buffer C { float c[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    int n = bitCount(a[i]) - 2;
    ivec2 ends = findLSB(uvec2(a[i], 8u)) + findMSB(ivec2(int(a[i]), 7));
    b[3u * i] = n;
    b[3u * i + 1u] = findMSB(a[i]) < 0 ? -7 : findMSB(a[i]);
    b[3u * i + 2u] = ends.x * 100 + ends.y;
    uint converted = 1u + findLSB(a[i] | 4u);
    c[i] = float(findLSB(a[i])) + float(converted) / 100.0;
}
