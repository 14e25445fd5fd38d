// {"tensors": [["u32", [3,1,7,0,4,1,6,3, 2,2,2,2,9,9,9,9]], ["u32", 16], ["u32", 2]], "groups": [2,1,1]}
#version 460 core
#extension GL_EXT_control_flow_attributes : enable
// Blelloch prefix sum of a block, with the sums of blocks written apart
#define BLOCK 8
layout(local_size_x = BLOCK / 2) in;
layout(binding = 0) readonly buffer In { uint src[]; };
layout(binding = 1) writeonly buffer Out { uint dst[]; };
layout(binding = 2) buffer Sums { uint sums[]; };
shared uint temp[BLOCK];
void main() {
    uint tid = gl_LocalInvocationID.x, base = gl_WorkGroupID.x * BLOCK;
    temp[2u * tid] = src[base + 2u * tid];
    temp[2u * tid + 1u] = src[base + 2u * tid + 1u];
    uint offset = 1u;
    for (uint d = BLOCK >> 1u; d > 0u; d >>= 1) {
        memoryBarrierShared(); barrier();
        if (tid < d) {
            uint ai = offset * (2u * tid + 1u) - 1u;
            uint bi = offset * (2u * tid + 2u) - 1u;
            temp[bi] += temp[ai];
        }
        offset *= 2u;
    }
    if (tid == 0u) { sums[gl_WorkGroupID.x] = temp[BLOCK - 1]; temp[BLOCK - 1] = 0u; }
    [[unroll]] for (uint d = 1u; d < BLOCK; d <<= 1) {
        offset >>= 1;
        memoryBarrierShared(); barrier();
        if (tid < d) {
            uint ai = offset * (2u * tid + 1u) - 1u;
            uint bi = offset * (2u * tid + 2u) - 1u;
            uint t = temp[ai]; temp[ai] = temp[bi]; temp[bi] += t;
        }
    }
    barrier();
    dst[base + 2u * tid] = temp[2u * tid];
    dst[base + 2u * tid + 1u] = temp[2u * tid + 1u];
}
