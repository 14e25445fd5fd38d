// {"tensors": [["i32", 18]]}
#version 450
#define FALSE 0
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
struct S { ivec4 v[3]; };
int calls = 0;
int m[3][3];
int n(int k) { calls = calls * 10 + k; return k; }
int two(int a, int b) { return a * 100 + b; }
void main() {
    for (int k = 0; k < 9; k++) m[k / 3][k % 3] = k / 3 * 10 + k % 3;
    // The first index is evaluated first.
    int i = 0;
    o[0] = m[i++][i++]; i = 0;
    m[i++][i++] = 99; o[1] = m[0][1]; o[2] = m[1][0]; i = 0;
    m[i++][i++] += 5; o[3] = m[0][1]; o[4] = m[1][0];
    m[0][1] = 1;
    o[5] = m[n(1)][n(2)]; o[6] = calls; calls = 0;
    m[n(1)][n(0)]++; o[7] = calls;
    m[1][0] = 10;
    S s[2]; s[1].v[2][3] = 7; i = 1;
    o[8] = s[i++].v[i++][i];
    o[9] = m[i > 2 ? --i : 0][i < 3 ? i-- : 1]; i = 0;
    o[10] = m[i++][i++] + 100 * m[i++][i - 3]; i = 0;
    o[11] = two(m[i++][i++], m[--i][i++]); i = 1;
    o[12] = m[m[0][i++]][m[0][i--]]; i = 0;
    if (m[i++][i++] == 1 && m[i++][i - 2] == 21) o[13] = 1;
    m[0][1] = m[--i][--i]; o[14] = m[0][1];
    m[m[0][0]++][m[0][0]] = 5; o[15] = m[0][1];
    for (int j = 0; j < 2; o[16] = m[j++][j]) {}
    o[17] = FALSE;
}
