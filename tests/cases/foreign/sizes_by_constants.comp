// {"tensors": [["f32", 16]], "spec": [8, 1, 3, 0.5], "groups": [2, 1, 1]}
#version 450
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint WG = 64;
layout(constant_id = 1) const bool BACKWARDS = false;
layout(constant_id = 2) const int N = 2;
layout(constant_id = 3) const float SCALE = 1.0;
layout(constant_id = 4) const float OFFSET = 1.5;
const int M = N * 2;
layout(binding = 0) buffer A { float a[]; };
shared float tile[WG];
void main() {
    float sums[M];
    uint local = gl_LocalInvocationID.x;
    tile[local] = float(gl_GlobalInvocationID.x);
    barrier();
    for (int i = 0; i < M; ++i) { sums[i] = float(i); }
    uint from = BACKWARDS ? WG - 1u - local : local;
    a[gl_GlobalInvocationID.x] =
        tile[from] * SCALE + sums[M - 1] + OFFSET + float(gl_WorkGroupSize.x) * 100.0;
}
