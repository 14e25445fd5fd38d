#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const double SCALE = 2.0;
const double TWICE = SCALE * 2.0;
layout(binding = 0) buffer Out { double data[]; };
void main() { data[0] = TWICE; }
