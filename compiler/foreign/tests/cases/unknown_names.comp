#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { float a[]; };
void main() {
    a[0] = size * 2.0;
    a[1] = squared(a[0]);
}
