#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
void add(inout ivec2 v) { v += 1; }
void main() {
    int i = 0;
    ivec3 w[2];
    add(w[i++].xy);
    o[0] = i;
}
