// {"tensors": [["i32", 24]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
struct S { ivec3 v[3]; };
int calls = 0;
int n() { return calls++; }
int same(const in int x) { return x; }
void add(inout int v) { v += 5; }
void put(out int v, in const int k) { v = k; }
void two(inout int a, inout int b) { a += 1; b += 2; }
void main() {
    // An index in an argument that a function changes is evaluated once, and before those behind it.
    add(o[n()]); add(o[n()]); o[2] = calls;
    two(o[n() + 1], o[n() + 1]); o[5] = calls;
    S s[2]; int i = 0;
    s[0].v[1] = s[1].v[1] = ivec3(0);
    put(s[i++].v[1].y, 7); o[6] = i; o[7] = s[0].v[1].y; o[8] = s[1].v[1].y;
    int a[4] = int[](0, 0, 0, 0); i = 0;
    two(a[i++], a[i++]); o[9] = i; o[10] = a[0]; o[11] = a[1];
    i = 2; two(a[i], a[i++]); o[12] = i; o[13] = a[2]; o[14] = a[3];
    two(a[same(2)], a[same(3)]); o[15] = a[2]; o[16] = a[3];
    i = 0; add(a[i < 1 ? i++ : 2]); o[17] = i; o[18] = a[0];
    i = 19; add(o[i]); i++; add(o[i]);
}
