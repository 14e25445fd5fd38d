// {"tensors": [["f32", 17]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer X { float x[]; };
struct S { mat4 m[2]; };
int calls = 0;
int n() { return calls++; }
void main() {
    // Several components of a column are assigned to at once.
    mat3 m = mat3(0.0);
    m[2].zx = vec2(1, 2);
    m[1].xy += vec2(3, 4); m[1].gr *= 2.0; m[1].st *= mat2(0, 1, 1, 0);
    for (int k = 0; k < 9; k++) x[k] = m[k / 3][k % 3];
    S s;
    s.m[1][3] = vec4(8.0); s.m[n()][3].wyx = s.m[1][3].xyz;
    x[9] = float(calls); x[10] = s.m[0][3].w;
    vec2 v = (m[0].xz = vec2(5.0, 6.0)) + 1.0;
    x[11] = v.x; x[12] = m[0].z;
    if (m[0].xz == vec2(5.0, 6.0)) { x[13] = 1.0; m[0].yx -= m[0].xz; }
    x[14] = m[0].y; x[15] = m[0].x; m[0].xy /= 2.0; x[16] = m[0].y;
}
