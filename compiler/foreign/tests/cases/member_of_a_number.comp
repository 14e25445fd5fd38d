#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() {
    float f = 1.0;
    data[0] = f.x;
}
