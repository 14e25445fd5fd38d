// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]], ["f32", 8]], "groups": [1, 1, 1]}
#version 450
// One struct, and one array of arrays, in a buffer, in the memory of the workgroup and in variables.
layout(local_size_x = 4) in;
struct Half { vec2 at; float weight; };
struct Body { Half half_; vec2 speed; };
layout(std430, set = 0, binding = 0) buffer A { Body bodies[3]; };
layout(std430, set = 0, binding = 1) buffer B { float table[2][4]; };
shared Body tile[3];
shared float rows[2][4];
Body last;
void main() {
    uint i = gl_LocalInvocationID.x;
    if (i < 3u) {
        tile[i] = bodies[i];
    }
    rows[1][i] = float(i);
    barrier();
    last = tile[2];
    if (i < 3u) {
        Body own = tile[2u - i];
        own.half_.weight += tile[i].speed.y;
        bodies[i] = own;
    }
    barrier();
    if (i == 0u) {
        tile[0] = last;
        rows[0] = rows[1];
    }
    barrier();
    table[0][i] = rows[0][3u - i] + tile[0].half_.at.x;
    if (i == 1u) {
        table[1] = rows[1];
    }
}
