#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const int N = 4;
layout(binding = 0) buffer Out { double data[]; };
void main() {
    double sums[N];
    sums[0] = 1.5lf;
    data[0] = sums[0];
}
