// {"tensors": [["i32", [0, 1, 2, 3, 4, 5, 6, 7]], ["i32", 8], ["i32", 8]], "groups": [8, 1, 1]}
#version 450
// The right side of `&&` and `||` is done where the left one does not decide.
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { int a[]; };
layout(binding = 1) buffer B { int calls[]; };
layout(binding = 2) buffer C { int results[]; };
shared int tile[4];
shared bool flags[4];
int counts[16];

bool count(int which, bool result) {
    counts[which]++;
    return result;
}

bool half_of(inout int x) {
    x /= 2;
    return x > 0;
}

bool split(int x, out float wide) {
    wide = float(x) * 0.5;
    return x > 3;
}

bool early(int x) {
    if (x == 2) return true;
    return x > 4 && 12 / (x - 4) > 4;
}

void main() {
    int i = a[gl_WorkGroupID.x];
    int x = i, n = i;
    ivec2 both = ivec2(i, i);
    for (int j = 0; j < 4; j++) tile[j] = i;
    for (int j = 0; j < 16; j++) counts[j] = 0;
    int result = 0;
    if (i > 3 && count(0, true)) result += 1;
    if (i > 3 || count(1, false)) result += 2;
    if (i > 5 && x++ > 6) result += 4;
    result += 8 * x;
    // One within another, on either side.
    if ((i > 1 && count(2, i > 3)) || (i == 0 && count(3, true) && count(4, false)) || count(5, i == 2)) result += 100;
    if (i != 3 && (i < 2 ? count(6, i == 0) : tile[i & 3] > 4 && count(7, true))) result += 200;
    // What the left side leaves behind is there whatever comes of it.
    bool kept;
    if ((kept = i > 4) && counts[15] == 0) result += 400;
    result += kept ? 800 : 0;
    if ((flags[i & 3] = i == 6) && tile[i & 3] > 2) result += 1600;
    if (half_of(both.y) && tile[both.y & 3] >= 0) result += 3200;
    result += 10000 * both.y;
    float wide = 0.0;
    if (half_of(n) && split(n, wide) || wide > 9.0 && early(i)) result += 100000;
    if (split(i, wide) && wide > 2.4) result += 200000;
    // Conditions of loops, and values.
    int steps = 0;
    while (steps < 8 && a[steps] < i) steps++;
    do { steps += 2; } while (steps < 9 && 30 / steps > 3);
    for (int j = 0; j < 3 && early(i + j); j++) steps += 10;
    bool value = i < 4 ^^ (i > 2 && count(8, true));
    for (int j = 0; j < 16; j++) calls[gl_WorkGroupID.x] |= counts[j] << 2 * j;
    results[gl_WorkGroupID.x] = result + 1000000 * steps + (value ? 100000000 : 0);
}
