// {"tensors": [["u64", [4294967295, 18446744073709551615, 1, 0, 0, 18446744073709551615, 3]], ["i64", [0, 0, 0, 12345678901]], ["u64", 2]]}
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_int64 : require
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Unsigned { uint64_t u[]; };
layout(std430, binding = 1) buffer Signed { int64_t s[]; };
layout(std430, binding = 2) buffer Shared { uint64_t of_shared[2]; };
shared uint64_t total;
shared uint64_t largest;
void main() {
    uint lane = gl_LocalInvocationIndex;
    uint64_t wide = uint64_t(lane) << 32;
    if (lane == 0) { total = 0ul; largest = 0ul; }
    barrier();
    atomicAdd(u[0], wide);
    atomicMin(u[1], 0xffffffff00ul - wide);
    atomicMax(u[2], wide);
    atomicOr(u[3], 1ul << (lane * 8));
    atomicXor(u[4], wide);
    atomicAnd(u[5], ~(1ul << (lane + 32)));
    if (lane == 0) atomicExchange(u[6], 0x123456789abcul);
    atomicMin(s[0], -int64_t(wide));
    atomicMax(s[1], int64_t(wide) - 5l);
    atomicAdd(s[2], -int64_t(wide));
    if (lane == 3) atomicCompSwap(s[3], 12345678901l, -98765432109l);
    atomicAdd(total, wide + 1ul);
    atomicMax(largest, wide);
    barrier();
    if (lane == 0) of_shared = uint64_t[](total, largest);
}
