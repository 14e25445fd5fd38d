// {"tensors": [["f32", 24]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { float o[]; };
struct S { float a[3]; vec2 b[2][2]; int c; };
const S known = S(float[](7.0, 8.0, 9.0), vec2[2][2](vec2[](vec2(1), vec2(2)), vec2[](vec2(3), vec2(4))), 5);
S s;
float[3] made() { return s.a; }
float sum(const in float x[3], vec2[2] y, float z) { return x[0] + y[0].y + y[1].y + z; }
void main() {
    // Arrays of structs are copied to variables and back, and written out.
    s.a[0] = 1; s.a[2] = 3;
    float[3] y = s.a; o[0] = y[0]; o[1] = y[2];
    y[1] = 2; s.a = y; o[2] = s.a[1];
    S t = S(float[](4, 5, 6), vec2[2][2](vec2[](vec2(1), vec2(2)), vec2[](vec2(3), vec2(4, 5))), 6);
    o[3] = t.a[1]; o[4] = t.b[1][1].y; o[5] = float(t.c);
    vec2 b[2][2] = t.b; b[0][1] = vec2(20); t.b = b; s = t; o[6] = s.b[0][1].x; o[7] = s.b[1][0].y; o[8] = s.a[2];
    o[9] = made()[0]; o[10] = known.a[2]; o[11] = known.b[1][0].x; o[12] = float(known.c); s = known; o[13] = s.a[1];
    S all[2] = S[](s, t); o[14] = all[1].a[0];
    o[15] = sum(t.a, all[1].b[1], t.b[1][1].y);
}
