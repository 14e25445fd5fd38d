// {"tensors": [["f32", 12], ["f32", 12]], "groups": [1, 1, 1]}
#version 450
layout(local_size_x = 4) in;
struct Pair { int of[2][3]; };
layout(set = 0, binding = 0) buffer A { float a[][3]; };
layout(set = 0, binding = 1) buffer B { float first[2][4]; float rest[4]; };
shared float tile[4][5];
shared float other[2][2];
const float table[2][3] = float[2][3](float[3](1.0, 2.0, 3.0), float[3](4.0, 5.0, 6.0));
float sum(float row[3]) { return row[0] + row[1] + row[2]; }
float last(float rows[2][3]) { return rows[1][2]; }
void main() {
    uint i = gl_LocalInvocationID.x;
    for (uint k = 0u; k < 5u; ++k) { tile[i][k] = float(i * 10u + k); }
    if (i < 2u) { for (uint k = 0u; k < 2u; ++k) { other[i][k] = float(i * 2u + k); } }
    barrier();
    for (uint k = 0u; k < 3u; ++k) { a[i][k] = tile[3u - i][k + 2u]; }
    Pair pair;
    for (int k = 0; k < 6; ++k) { pair.of[k / 3][k % 3] = k; }
    first[i / 2u][(i % 2u) * 2u] = sum(table[i % 2u]);
    first[i / 2u][(i % 2u) * 2u + 1u] = last(table) + float(table.length());
    rest[i] = float(pair.of[1][i % 3u]) + other[i % 2u][1] * 100.0;
}
