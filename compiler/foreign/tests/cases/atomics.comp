#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { uint a[]; };
void main() {
    atomicAdd(a[0], 1u);
}
