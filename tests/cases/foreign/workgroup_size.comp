// {"tensors": [["u32", 12]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 3, local_size_y = 2) in;
layout(binding = 0) buffer Out { uint data[]; };
const uint N = gl_WorkGroupSize.x * gl_WorkGroupSize.y;
shared uint tile[N];
shared uint row[gl_WorkGroupSize.x];
void main() {
    uint lane = gl_LocalInvocationID.y * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    tile[lane] = lane;
    row[lane % gl_WorkGroupSize.x] = 7u;
    barrier();
    data[gl_WorkGroupID.x * N + lane] = tile[N - 1u - lane] * 10u + row[0] + gl_WorkGroupSize.z * 100u;
}
