// {"tensors": [["u32", [0, 1, 255, 2863311530]], ["i32", 24]], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { uint a[]; };
layout(binding = 1) writeonly buffer B { int b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint x = a[i];
    uint at = i * 6u;
    b[at] = int(bitCount(x));
    b[at + 1u] = int(bitfieldReverse(x) >> 24);
    b[at + 2u] = int(findMSB(x));
    b[at + 3u] = int(findLSB(x));
    b[at + 4u] = int(bitfieldExtract(x, 3, 5));
    b[at + 5u] = int((x ^ 0xF0u) & ~3u | (x << 2u));
}
