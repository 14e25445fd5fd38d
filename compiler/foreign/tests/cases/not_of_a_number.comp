#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() {
    bool b = !(1);
    a[0] = b ? 1.0 : 0.0;
}
