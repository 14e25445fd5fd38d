#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };

void main() {
    mat2 m = mat2(0.0);
    m[1].yx++;
    o[0] = int(m[1].x);
}
