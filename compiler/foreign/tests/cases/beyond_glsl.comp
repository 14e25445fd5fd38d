#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() {
    uint carry;
    uint sum = uaddCarry(1u, 2u, carry);
    float whole;
    float part = modf(1.5, whole);
    memoryBarrierShared();
    groupMemoryBarrier();
}
