// {"tensors": [["f32", [0, 1, 2, 3]], ["i32", 25]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float x[]; };
layout(set = 0, binding = 1) buffer O { int o[]; };
struct S { vec3 v; mat3 m[2]; };
int calls = 0;
int n() { return calls++; }
// Comes back amid its loop alone.
int found(int wanted) { for (int i = 0;; i++) { if (i * i >= wanted) return i; } }
void main() {
    // An index that changes something changes it once.
    float f[4] = float[](0., 0., 0., 0.);
    int i = 0;
    f[i++] += 5.0; f[i++] += 6.0;
    o[0] = i; o[1] = int(f[0]); o[2] = int(f[1]); o[3] = int(f[2]);
    f[n()] -= 1.0;
    o[4] = calls; o[5] = int(f[0]);
    vec4 v[2] = vec4[](vec4(0.), vec4(1.)); i = 0;
    v[i++].xz += vec2(1., 2.); v[i++].y *= 3.0;
    o[6] = i; o[7] = int(v[0].x * 10. + v[0].z); o[8] = int(v[1].y);
    i = 0; v[i++]++; o[9] = i; o[10] = int(v[0].w);
    i = 10; o[i++] += 5; o[i++] <<= 1; o[12] = i;
    S s[2]; s[0].v = vec3(1.); s[1].v = vec3(2.); i = 0;
    s[i++].v.zx += vec2(3., 4.); s[i > 0 ? i++ : 0].v *= 2.; o[13] = i; o[14] = int(dot(s[0].v, vec3(100., 10., 1.)));
    o[15] = int(s[1].v.y);
    // Components of columns, matrices of a vector, constants of a function.
    mat2 m = mat2(0.0);
    m[1].x = 4.0; m[i - 1].g += 3.0; o[16] = int(m[1][0] * 10. + m[1][1]);
    s[1].m[1] = mat3(1.0); s[1].m[1][2].z += 4.; o[17] = int(s[1].m[1][2][2]);
    m = mat2(x[0] + vec4(1, 2, 3, 4));
    o[18] = int(m[0][0] * 1000. + m[0][1] * 100. + m[1][0] * 10. + m[1][1]);
    const int N = 4, M = N * 2;
    int y[M]; y[7] = 3; o[19] = y[7];
    switch (o[19]) { case N - 1: o[20] = 5; break; default: o[20] = 6; }
    // NaN is like nothing.
    float nan = x[0] / x[0], other = x[0] / (x[0] * x[2]);
    o[21] = (nan != other ? 1 : 0) + (nan == other ? 10 : 0) + (x[1] != x[2] ? 100 : 0) + (x[1] != x[1] ? 1000 : 0);
#if __VERSION__ >= 450 && defined(VULKAN)
    o[22] = __VERSION__;
#endif
    o[23] = found(17);
}
