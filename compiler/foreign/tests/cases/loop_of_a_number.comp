#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() {
    while (1) { a[0] = 1.0; break; }
}
