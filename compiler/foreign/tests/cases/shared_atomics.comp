#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
shared int total;
void main() { int old = atomicAdd(total, 1); memoryBarrierBuffer(); memoryBarrierShared(); memoryBarrierImage(); memoryBarrier(); groupMemoryBarrier(); barrier(); }
