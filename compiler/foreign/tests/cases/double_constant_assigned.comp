#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
const double k = 0.1lf;
void main() { k += 0.5lf; data[0] = float(k); }
