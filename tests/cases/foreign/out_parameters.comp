// {"tensors": [["i32", [17, 5, -17, 5, 100, 7]], ["i32", 6]], "groups": [3, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { ivec2 a[]; };
layout(binding = 1) writeonly buffer B { ivec2 b[]; };
void divide(in int x, in int y, out int quotient, out int rest) {
    quotient = x / y;
    rest = x - quotient * y;
}
void negate(inout int x) {
    x = -x;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    int quotient;
    int rest;
    divide(a[i].x, a[i].y, quotient, rest);
    negate(rest);
    b[i] = ivec2(quotient, rest);
}
