#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { float a[]; };
void main() {
    float x = 1.0
    a[0] = x;
}
