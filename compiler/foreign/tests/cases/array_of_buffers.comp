#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
layout(set = 0, binding = 1) buffer More { float x[]; } more[2];
void main() {
    data[0] = more[1].x[0];
}
