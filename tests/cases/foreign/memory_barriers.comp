// {"tensors": [["i32", 8]], "groups": [1, 1, 1]}
#version 450
#define SYNC() { memoryBarrierShared(); memoryBarrierBuffer(); barrier(); }
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer O { int o[]; };
shared int near[4];
void wait() { groupMemoryBarrier(); memoryBarrier(); barrier(); }
void main() {
    // Barriers of memory alone stand beside those that wait.
    uint i = gl_LocalInvocationID.x;
    near[i] = int(i) * 10;
    memoryBarrierShared(); barrier();
    o[i] = near[3u - i];
    memoryBarrierImage(); wait();
    near[i] = o[(i + 1u) % 4u];
    SYNC()
    o[4u + i] = near[i];
}
