// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8]], ["f32", 4], ["u32", [3, 0, 0, 0]], ["i32", [9, 9, 9]]], "groups": [4, 1, 1]}
#version 450
precision highp float;
precision mediump int;
layout(local_size_x = 1) in;
layout(std430) buffer;
layout(binding = 0) readonly restrict buffer In { readonly vec2 pairs[4]; } source;
layout(binding = 1) buffer Out { coherent writeonly float o[4]; } target;
layout(binding = 2) coherent volatile buffer Counter {
    readonly uint limit;
    uint count;
    restrict coherent uint most;
};
layout(binding = 3) buffer Unused { layout(offset = 4) volatile int second; int third; } rest;
mediump float halve(const in highp float x, lowp int by) { return x / float(by); }
void main() {
    uint i = gl_GlobalInvocationID.x;
    precise float product = source.pairs[i].x * source.pairs[i].y;
    precise float sum = product + source.pairs[i].x;
    target.o[i] = halve(sum, 2);
    if (i < limit) atomicAdd(count, 1u);
    atomicMax(most, i * 5u);
    memoryBarrierBuffer();
    if (i == 2u) { rest.second += 1; rest.third = source.pairs.length() * 10 + target.o.length(); }
}
