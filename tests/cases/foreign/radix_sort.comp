// {"tensors": [["u32", [0, 2531, 966, 3498, 1933, 369, 2900, 1336, 3867, 2303, 738, 3270, 1705, 141, 2672, 1108]], ["u32", 16]], "spec": [2]}
#version 450
layout(constant_id = 0) const uint bits = 4u;
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 1) writeonly buffer Sorted { uint sorted[]; };
shared uint ring[2][16];
shared uint digits[1u << bits];
void main() {
    const uint lane = gl_LocalInvocationID.x, mask = (1u << bits) - 1u;
    ring[0][lane] = keys[lane];
    uint from = 0u;
    for (uint shift = 0u; shift < 12u; shift += bits) {
        if (lane <= mask) digits[lane] = 0u;
        barrier();
        const uint key = ring[from][lane], digit = bitfieldExtract(key, int(shift), int(bits));
        atomicAdd(digits[digit], 1u);
        barrier();
        uint at = 0u;
        for (uint d = 0u; d < digit; ++d) at += digits[d];
        for (uint l = 0u; l < lane; ++l) at += uint((ring[from][l] >> shift & mask) == digit);
        ring[1u - from][at] = key;
        from = 1u - from;
        barrier();
    }
    sorted[lane] = ring[from][lane];
}
