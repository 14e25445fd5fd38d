// {"tensors": [["i32", 33]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
struct S { ivec3 v[3]; };
int calls = 0;
int n() { return calls++; }
shared ivec3 sh[3];
void add(inout ivec2 v) { v += ivec2(5, 6); }
void put(out ivec2 v, int a, int b) { v = ivec2(a, b); }
void two(inout ivec2 a, inout ivec2 b) { a += 1; b += 2; }
void main() {
    // Swizzles are copied in and out at the place that was found once.
    ivec3 w[3] = ivec3[](ivec3(1, 2, 3), ivec3(4, 5, 6), ivec3(7, 8, 9));
    int i = 0;
    add(w[i++].xy); o[0] = i; o[1] = w[0].x; o[2] = w[0].y; o[3] = w[1].x;
    add(w[i++].zx); o[4] = i; o[5] = w[1].x; o[6] = w[1].y; o[7] = w[1].z;
    put(w[n() + 1].yz, n(), 70); o[8] = calls; o[9] = w[1].y; o[10] = w[1].z;
    i = 0;
    two(w[i++].xy, w[i++].zy); o[11] = i; o[12] = w[0].x; o[13] = w[0].y; o[14] = w[1].z; o[15] = w[1].y;
    sh[0] = sh[1] = sh[2] = ivec3(1);
    i = 1;
    add(sh[i++].zy); o[16] = i; o[17] = sh[1].z; o[18] = sh[1].y; o[19] = sh[2].y;
    S s[2]; s[0].v[1] = s[1].v[1] = ivec3(1, 2, 3); i = 0;
    two(s[i++].v[i].xz, s[i--].v[i + 1].yx);
    o[20] = i; o[21] = s[0].v[1].x; o[22] = s[0].v[1].z; o[23] = s[1].v[1].y; o[24] = s[1].v[1].x;
    i = 0;
    w[i++].xy += ivec2(1); o[29] = i; o[30] = w[0].x;
    i = 0;
    w[i++].xy++; o[31] = i; o[32] = w[0].x;
}
