#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() {
    uint64_t x = uint64_t(1);
}
