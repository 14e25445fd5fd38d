layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { data[0] = 1.0; }
