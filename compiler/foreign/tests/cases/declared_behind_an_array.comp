#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[4], rest[]; };
void main() {
    float a[2] = float[2](1.0, 2.0), b = 3.0;
    data[0] = a[1] + b;
}
