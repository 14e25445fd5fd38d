#version 450
layout(local_size_x = 1) in;
layout(constant_id = 2) const double SCALE = 2.0;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { data[0] = float(SCALE); }
