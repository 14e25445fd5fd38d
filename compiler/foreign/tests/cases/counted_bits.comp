// Places stay where they are though the version gives way to functions that count.
#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer B { uint data[]; };
void main() {
    float x = bitCount(data[0]);
    bool y = findLSB(data[1]);
}
