#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
struct S { float x; float y; };
void main() {
    S s = S(1.0, 2.0);
    S t = S(a[0], a[1]);
    bool same = s == t;
    a[0] = same ? 1.0 : 0.0;
}
