// {"tensors": [["i32", 10]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
const int SIZES[2] = int[](3, 2 + 2);
const int FIRST[] = int[](7, 8, 9);
void main() {
    // A value tells the length, and so does an element of a constant.
    const int N = 3;
    int a[] = int[N](1, 2, 3);
    int b[] = int[](4, a[0]);
    int[] c = int[2](5, 6);
    int d[][2] = int[N][2](int[](1, 2), int[](3, 4), int[](5, 6));
    int e[] = { 1, 2, 3, 4 };
    int f[SIZES[1]];
    f[3] = 10;
    o[0] = a.length() * 100 + b.length() * 10 + c.length();
    o[1] = a[2]; o[2] = b[1]; o[3] = c[1]; o[4] = d[2][1]; o[5] = e[3] + e.length();
    o[6] = f[3] + f.length(); o[7] = FIRST[2] + FIRST.length();
    // A `do` goes on with its condition, wherever `continue` stands.
    int i = 0;
    do { i++; o[8] += i; continue; } while (i < 3);
    do { i--; if (i == 1) continue; do { o[9]++; continue; o[9] = 100; } while (false); continue; } while (i > 0);
}
