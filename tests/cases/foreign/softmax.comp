// {"tensors": [["f32", [1.0, 3.0, 2.0, 0.0, 10.0, 10.0, -5.0, 9.0]], ["i32", 8]], "groups": [2, 1, 1], "spec": [4]}
#version 450
layout(local_size_x_id = 0) in;
layout(binding = 0) readonly buffer Logits { float logits[]; };
layout(binding = 1) writeonly buffer Shares { int per_mille[]; };
shared float row[gl_WorkGroupSize.x];
#define REDUCE(op)                                                      \
    for (uint n = gl_WorkGroupSize.x >> 1; n > 0u; n >>= 1) {           \
        barrier();                                                      \
        if (lane < n) row[lane] = op(row[lane], row[lane + n]);         \
    }                                                                   \
    barrier();
float plus(float a, float b) { return a + b; }
void main() {
    const uint lane = gl_LocalInvocationID.x, at = gl_WorkGroupID.x * gl_WorkGroupSize.x + lane;
    row[lane] = logits[at];
    REDUCE(max)
    const float power = exp(logits[at] - row[0]);
    barrier();
    row[lane] = power;
    REDUCE(plus)
    per_mille[at] = int(round(power / row[0] * 1000.0));
}
