// {"tensors": [["f32", [-2, 0, 0, 3, 2, 2, -1, 1, 1, 0, -2, 3, 0, 2, 2, 1, -1, 0, 1, 3, -2, 2, 0, 1, 2, 0, -1, 3, 1, 2, -2, 1]], ["i32", 32]], "groups": [1, 1, 1], "spec": [4]}
#version 450
layout(local_size_x = 8) in;
layout(constant_id = 0) const uint stages = 1u;
const uint count = 1u << stages;
const float tau = 6.28318530717958647692;
layout(std430, binding = 0) readonly buffer Samples { vec2 samples[]; };
layout(std430, binding = 1) writeonly buffer Spectrum { ivec2 spectrum[]; };
shared vec2 cells[2][count];
vec2 times(vec2 a, vec2 b) { return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
void main() {
    uint lane = gl_LocalInvocationID.x;
    for (uint i = lane; i < count; i += gl_WorkGroupSize.x) cells[0][bitfieldReverse(i) >> (32u - stages)] = samples[i];
    barrier();
    uint from = 0u;
    for (uint stage = 0u; stage < stages; ++stage, from ^= 1u) {
        uint half_size = 1u << stage;
        uint k = lane & (half_size - 1u), low = ((lane >> stage) << (stage + 1u)) + k;
        float angle = -tau * float(k) / float(2u * half_size);
        vec2 a = cells[from][low], b = times(cells[from][low + half_size], vec2(cos(angle), sin(angle)));
        cells[from ^ 1u][low] = a + b;
        cells[from ^ 1u][low + half_size] = a - b;
        barrier();
    }
    for (uint i = lane; i < count; i += gl_WorkGroupSize.x) spectrum[i] = ivec2(round(cells[from][i] * 100.0));
}
