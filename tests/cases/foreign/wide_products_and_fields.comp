// {"tensors": [["u32", [4026531841, 3735928559, 12, 7]], ["u32", 24], ["i32", [-5, 2147483647, 0, -1]], ["i32", 12]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { uvec2 a[]; };
layout(binding = 1) writeonly buffer B { uint b[][12]; };
layout(binding = 2) readonly buffer C { ivec2 c[]; };
layout(binding = 3) writeonly buffer D { int d[][6]; };
void main() {
    uint i = gl_WorkGroupID.x;
    uint x = a[i].x, y = a[i].y, carry, borrow, high, low;
    b[i][0] = bitfieldExtract(x, 5, 11);
    b[i][1] = uint(bitfieldExtract(int(x), 28, 4));
    b[i][2] = bitfieldInsert(x, y, 8, 8);
    b[i][3] = uaddCarry(x, y, carry);
    b[i][4] = carry;
    b[i][5] = usubBorrow(x, y, borrow);
    b[i][6] = borrow;
    umulExtended(x, y, high, low);
    b[i][7] = high;
    b[i][8] = low;
    b[i][9] = bitCount(y);
    b[i][10] = findLSB(y);
    b[i][11] = findMSB(x);
    int top, bottom;
    imulExtended(c[i].x, c[i].y, top, bottom);
    d[i] = int[](top, bottom, findMSB(c[i].x), findLSB(c[i].x), bitCount(c[i].y), bitfieldReverse(c[i].y));
    ivec2 both = bitfieldExtract(c[i], 0, 0) + findMSB(ivec2(-1, 1));
    d[i][5] ^= both.x * 16 + both.y;
}
