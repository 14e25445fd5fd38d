// {"tensors": [["f32", [1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 10, 0]], ["f32", 64], ["f32", [1, 2, 3, 4, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0]]], "groups": [1, 1, 1]}
#version 450
// Structs with arrays are copied as wholes, wherever they lie and however they are laid out there.
layout(local_size_x = 2) in;
struct Part { vec2 at; float weights[3]; };
struct Pair { Part parts[2]; float last; };
layout(std430, binding = 0) readonly buffer A { Part a[]; };
layout(std430, binding = 1) buffer B { Pair pairs[2]; Part more[]; };
layout(std140, binding = 2) uniform C { Part one; };
shared Part tile[2];
Part scaled(Part part, float factor) {
    part.at *= factor;
    for (int i = 0; i < 3; i++) part.weights[i] *= factor;
    return part;
}
void add(inout Part part, const Part other) {
    part.at += other.at;
    for (int i = 0; i < 3; i++) part.weights[i] += other.weights[i];
}
Part chosen(uint i) {
    if (i == 0u) return a[1];
    return one;
}
void main() {
    uint i = gl_LocalInvocationID.x;
    Part own = a[i];
    tile[i] = scaled(own, 10.0);
    barrier();
    own.weights[1] = 100.0;
    Pair pair;
    pair.parts[0] = own;
    pair.parts[1] = tile[1u - i];
    pair.last = 0.5;
    pairs[i] = pair;
    more[i] = one;
    Part sum = more[i];
    add(sum, own);
    more[i] = sum;
    more[2u + i] = chosen(i);
    Part two[2] = pairs[i].parts;
    more[i + 4u] = scaled(two[1], 2.0);
}
