// {"tensors": [["i32", [0, 1, 2, 3, 4, 5, 6, 7]], ["i32", 8]], "groups": [1, 1, 1]}
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) readonly buffer A { int a[]; };
layout(set = 0, binding = 1) writeonly buffer B { int b[]; };
int calls = 0;
int twice(int x) { calls++; return 2 * x; }
float twice(float x) { return x + x; }
void main() {
    int x = a[gl_LocalInvocationIndex];
    int total = 0;
    do {
        switch (x) {
            case 0:
                total += 1;
            case 1:
                total += 10;
                break;
            default:
                total += twice(x) + int(twice(0.5 * float(x)));
                break;
        }
        x += 2;
    } while (x < 6);
    for (int i = 0, j = 10; i < j; i++, j--) {
        if (i == 2) continue;
        if (j == 6 && x > 6) break;
        total += 1000;
    }
    if (gl_LocalInvocationIndex == 7u) return;
    b[gl_LocalInvocationIndex] = (x > 6 ? total : -total) * 10 + calls;
}
