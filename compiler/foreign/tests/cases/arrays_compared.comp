#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() {
    float q[2] = float[](1.0, 2.0);
    float r[2] = float[](a[0], a[1]);
    bool same = q == r;
    a[0] = same ? 1.0 : 0.0;
}
