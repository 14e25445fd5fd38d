// {"tensors": [["i32", [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]], ["i32", 25]], "groups": [5, 5, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Now { int now[]; };
layout(binding = 1) writeonly buffer Next { int next[]; };
const int SIZE = 5;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    int around = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) continue;
            ivec2 other = (at + ivec2(dx, dy) + ivec2(SIZE)) % ivec2(SIZE);
            around += now[other.y * SIZE + other.x];
        }
    }
    int alive = now[at.y * SIZE + at.x];
    next[at.y * SIZE + at.x] = around == 3 || (alive == 1 && around == 2) ? 1 : 0;
}
