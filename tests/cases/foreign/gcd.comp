// {"tensors": [["u32", [12, 18, 17, 5, 100, 75, 0, 9]], ["u32", 4]], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { uvec2 a[]; };
layout(binding = 1) writeonly buffer B { uint b[]; };
uint gcd(uint x, uint y) {
    while (y != 0u) {
        uint rest = x % y;
        x = y;
        y = rest;
    }
    return x;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    b[i] = gcd(a[i].x, a[i].y);
}
