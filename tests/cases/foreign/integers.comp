// {"tensors": [["i32", [7, -7, 2147483647, -2147483648]], ["i32", 24]], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { int a[]; };
layout(binding = 1) writeonly buffer B { int b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    int x = a[i];
    b[i * 6u] = x / 2;
    b[i * 6u + 1u] = x + 1;
    b[i * 6u + 2u] = x * 3;
    b[i * 6u + 3u] = x >> 4;
    b[i * 6u + 4u] = int(uint(x) >> 28u);
    b[i * 6u + 5u] = min(max(x, -100), 100);
}
