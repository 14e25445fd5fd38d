// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]], ["f32", 2]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) buffer Sums { float sums[]; };
shared float part[8];
void main() {
    uint lane = gl_LocalInvocationID.x;
    part[lane] = a[gl_GlobalInvocationID.x];
    barrier();
    for (uint stride = 4u; stride > 0u; stride >>= 1u) {
        if (lane < stride) {
            part[lane] += part[lane + stride];
        }
        barrier();
    }
    if (lane == 0u) {
        sums[gl_WorkGroupID.x] = part[0];
    }
}
