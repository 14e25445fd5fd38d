#version 450
#define LENGTH 0
layout(local_size_x = 1) in;
layout(constant_id = LENGTH) const int N = 4;
layout(binding = 0) buffer Out { float data[]; };
void main() {
    float sums[N];
    sums[0] = 1.0;
    data[0] = sums[0];
}
