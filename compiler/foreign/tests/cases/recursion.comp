#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
float g(float x);
float f(float x) {
    return g(x) + 1.0;
}
float g(float x) {
    return f(x);
}
void main() {
    data[0] = f(1.0);
}
