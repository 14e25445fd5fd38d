// {"tensors": [["u32", [0, 14, 5, 19, 10, 1, 15, 6, 20, 11, 2, 16, 7, 21, 12, 3, 17, 8, 22, 13, 4, 18, 9, 0, 14, 5, 19, 10, 1, 15, 6, 20]], ["u32", 4], ["u32", 3]], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) readonly buffer Values { uint values[]; };
layout(std430, binding = 1) coherent buffer Partials { uint partials[]; };
layout(std430, binding = 2) coherent buffer Result { uint done; uint total; uint largest; } result;
shared uint sum, most;
shared bool is_last;
void main() {
    if (gl_LocalInvocationIndex == 0u) { sum = 0u; most = 0u; }
    barrier();
    atomicAdd(sum, values[gl_GlobalInvocationID.x]);
    atomicMax(most, values[gl_GlobalInvocationID.x]);
    memoryBarrierShared();
    barrier();
    if (gl_LocalInvocationIndex == 0u) {
        partials[gl_WorkGroupID.x] = sum << 8 | most;
        memoryBarrierBuffer();
        is_last = atomicAdd(result.done, 1u) == gl_NumWorkGroups.x - 1u;
    }
    barrier();
    if (!is_last) return;
    if (gl_LocalInvocationIndex < gl_NumWorkGroups.x) {
        uint partial = partials[gl_LocalInvocationIndex];
        atomicAdd(result.total, partial >> 8);
        atomicMax(result.largest, partial & 0xffu);
    }
}
