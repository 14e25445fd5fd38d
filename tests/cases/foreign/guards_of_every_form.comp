// {"tensors": [["f32", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]], ["i32", 20]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float x[]; };
layout(set = 0, binding = 1) buffer O { int o[]; };
int n = 0;
bool c(bool r) { n++; return r; }
bool w(out int k, bool r) { k = 7; n++; return r; }
const bool DEBUG = false;
bool both(const bool p) { return p && c(true); }
#define OK(i) (i) > 0 && x[(i) - 1] > 0.0
void main() {
    int k = 0;
    bool b = x[0] < 0. && k++ > -1;
    o[0] = k;
    b = x[0] >= 0. || k++ > -1;
    o[1] = k;
    n = 0; b = c(true) && c(false); o[2] = n;
    n = 0; b = c(false) && c(false); o[3] = n;
    n = 0; b = c(true) || c(false); o[4] = n;
    n = 0; b = c(false) || c(true); o[5] = n + (b ? 10 : 0);
    int q = 0;
    n = 0; b = w(q, false) && c(true); o[6] = n * 10 + q;
    n = 0; b = w(q, true) && c(true); o[7] = n * 10 + q;
    n = 0; b = DEBUG && c(true); o[8] = n;
    n = 0; b = !DEBUG && c(true); o[9] = n;
    n = 0; b = both(false); b = both(true); o[10] = n;
    n = 0; b = c(false) && c(true) || c(true) && c(false); o[11] = n + (b ? 10 : 0);
    n = 0; b = c(false) && (c(true) || c(true)); o[12] = n;
    n = 0; b = c(true) && (c(false) || c(true)); o[13] = n + (b ? 10 : 0);
    int m = 0; k = 0;
    while (m < 100 && k++ < 5) m++;
    o[14] = k * 100 + m;
    for (k = 0, m = 0; k < 10 && x[k] < 3.0; k++) m++;
    o[15] = m;
    k = 0; m = 0; n = 0;
    do { m++; k++; if (k > 20) break; if (m >= 5) continue; } while (m < 5 && c(true));
    o[16] = k * 100 + n;
    o[17] = OK(m - m) ? 1 : 2;
    o[18] = OK(2) ? 1 : 2;
    bool f = (k = 3, true) && (k = 4, false);
    o[19] = k;
}
