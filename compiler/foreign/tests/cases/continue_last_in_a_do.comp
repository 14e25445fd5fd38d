#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };

void main() {
    int i = 0;
    do {
        i++;
        continue;
    } while (i < 4);
    o[0] = i;
}
