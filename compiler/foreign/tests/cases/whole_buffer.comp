#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { mat2 turn; float data[]; } block;
void main() {
    block.data[0] = (block.turn * vec2(1.0, 2.0)).x;
}
