// {"tensors": [["i32", 4]], "groups": [1, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { int b[]; };
const int NOT__LINE__ = 7;
void main() {
    b[0] = __LINE__;
    b[1] = __LINE__ + __LINE__; b[2] = NOT__LINE__;
    b[3] = int(bitCount(7u));
}
