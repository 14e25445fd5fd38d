#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
const double k = sqrt(0.5lf);
void main() { data[0] = float(k); }
