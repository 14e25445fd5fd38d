// {"tensors": [["f32", [0, 0.5, 1, -1]], ["u32", 3], ["f32", 8]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { vec4 a; };
layout(binding = 1) buffer B { uint b[]; };
layout(binding = 2) buffer C { vec4 c[]; };
void main() {
    b[0] = packUnorm4x8(a);
    b[1] = packSnorm4x8(a);
    b[2] = floatBitsToUint(a.y);
    c[0] = unpackUnorm4x8(b[0]);
    c[1] = vec4(unpackHalf2x16(packHalf2x16(a.yz)), uintBitsToFloat(b[2]), 0.0);
}
