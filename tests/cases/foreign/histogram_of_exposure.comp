// {"tensors": [["f32", [0.0, 0.004, 0.1, 0.5, 1.0, 2.0, 7.9, 100.0]], ["u32", 8]], "groups": [2, 1, 1], "push": [-8, 0.0833333333, 8]}
#version 460 core
layout(local_size_x = 4, local_size_y = 1) in;
layout(std430, set = 0, binding = 0) restrict readonly buffer Luminance { float luminance[]; };
layout(std430, set = 0, binding = 1) restrict coherent buffer Histogram { uint histogram[]; };
layout(push_constant, std430) uniform Params { float min_log; float inverse_range; uint count; } params;
const uint BINS = 8u;
shared uint bins[BINS];
uint bin_of(float l) {
    if (l < 0.005) return 0u;
    return uint(clamp((log2(l) - params.min_log) * params.inverse_range, 0.0, 1.0) * float(BINS - 2u) + 1.0);
}
void main() {
    for (uint i = gl_LocalInvocationIndex; i < BINS; i += gl_WorkGroupSize.x) bins[i] = 0u;
    groupMemoryBarrier();
    barrier();
    if (gl_GlobalInvocationID.x < params.count) atomicAdd(bins[bin_of(luminance[gl_GlobalInvocationID.x])], 1u);
    groupMemoryBarrier();
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < BINS; i += gl_WorkGroupSize.x)
        if (bins[i] != 0u) atomicAdd(histogram[i], bins[i]);
}
