#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
#define NEXT o[i++]
void main() {
    int i = 0;
    NEXT += 1;
}
