// {"tensors": [["u32", [5, 5, 5, 255, 0, 0, 7, 7]], ["i32", [0, -3, -3, 7, 8, 5, 1, 2]], ["u32", 8], ["i32", 4]], "groups": [1, 1, 1]}
#version 450
layout(local_size_x = 16) in;
layout(std430) buffer;
layout(binding = 0) buffer Unsigned { uint u[]; };
layout(binding = 1) coherent buffer Signed { int s[]; };
layout(binding = 2) buffer Shared { uint of_shared[]; };
layout(binding = 3) writeonly buffer Before { int before[]; };
shared uint tally[8];
shared int extremes[2];
void main() {
    uint lane = gl_LocalInvocationIndex;
    if (lane < 8) tally[lane] = lane == 3 ? 0xffffu : 0u;
    if (lane == 0) extremes = int[](0, 0);
    barrier();

    atomicAdd(u[0], lane);
    atomicMin(u[1], lane + 2);
    atomicMax(u[2], lane * 3);
    atomicAnd(u[3], ~(1u << lane));
    atomicOr(u[4], 1u << lane);
    atomicXor(u[5], lane);
    if (lane == 6) before[0] = int(atomicExchange(u[6], 60));
    if (lane == 7) before[1] = int(atomicCompSwap(u[7], 7, 70));

    atomicAdd(s[0], -int(lane));
    atomicMin(s[1], 4 - int(lane));
    atomicMax(s[2], int(lane) - 10);
    atomicAnd(s[3], -2);
    atomicOr(s[4], int(lane & 1));
    atomicXor(s[5], -1);
    if (lane == 1) before[2] = atomicExchange(s[6], -60);
    if (lane == 2) before[3] = atomicCompSwap(s[7], 3, 70);

    atomicAdd(tally[0], 2);
    atomicMax(tally[1], lane);
    atomicOr(tally[2], 1u << (lane * 2));
    atomicAnd(tally[3], ~(1u << lane / 2));
    atomicXor(tally[4], 1u << (lane & 3));
    atomicMin(extremes[0], int(lane) - 8);
    atomicMax(extremes[1], int(lane) - 8);
    uint ticket = atomicAdd(tally[5], 1);
    atomicAdd(tally[6], ticket);
    if (lane == 9) { atomicExchange(tally[7], 5); atomicCompSwap(tally[7], 5, 6); atomicCompSwap(tally[7], 5, 7); }
    barrier();
    if (lane < 8) of_shared[lane] = tally[lane];
    if (lane == 4) of_shared[4] += uint(extremes[0] * 100 + extremes[1] + 1000);
}
