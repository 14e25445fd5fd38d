// {"tensors": [["i32", 8], ["i32", 8], ["i32", 8]]}
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer A { int a[]; };
layout(set = 0, binding = 1) buffer B { int b[]; };
layout(set = 0, binding = 2) buffer C { int c[]; };
void main() {
    int i = int(gl_GlobalInvocationID.x);
    // Behind empty cases, into a loop.
    int n = i;
    do {
        switch (n) {
        case 0:
        case 1:
            n += 2;
            break;
        case 2:
            n = 9;
        default:
            do { n++; } while (n < 12);
        }
    } while (n < 10);
    a[i] = n;
    // Into a loop that is left and gone on with.
    int m = 0;
    for (int j = 0; j < 3; j++) {
        switch ((i + j) % 4) {
        case 0:
            m = 1;
        case 1:
            while (m < 5) {
                m++;
                if (m == 4) break;
            }
        default:
            if (m > 3) continue;
            m += 100;
        }
        m += 1000;
    }
    b[i] = m;
    // A default in the middle, and a return.
    int k = 100;
    switch (i) {
    case 5:
    case 6:
        k += 1;
    default:
        k += 10;
    case 7:
        k += 1000;
        break;
    case 3:
        c[i] = -1;
        return;
    }
    c[i] = k;
}
