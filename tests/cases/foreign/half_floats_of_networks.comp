// {"tensors": [["f16", [1, 2, 3, 4, 0.5, 0.25, -1, 8]], ["f16", [2, -1, 0.5, 1]], ["f16", 8], ["f32", 4]], "groups": [2, 1, 1], "spec": [1]}
#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define afp float16_t
#define afpvec4 f16vec4
layout(local_size_x_id = 233) in;
layout(constant_id = 0) const int activation = 0;
layout(binding = 0) readonly buffer Blob { afpvec4 blob[]; };
layout(binding = 1) readonly buffer Weights { afpvec4 weights; };
layout(binding = 2) writeonly buffer Top { afpvec4 top[]; };
layout(binding = 3) writeonly buffer Sums { vec2 sums[]; };
afpvec4 activate(afpvec4 v) {
    if (activation == 1) v = max(v, afp(0.f));
    return v;
}
void main() {
    uint i = gl_WorkGroupID.x;
    afpvec4 v = blob[i];
    afp sum = dot(v, weights);
    // 2048 + 1 is not a half float, so the sum says in what width it was computed.
    afp big = afp(2048) + afp(1) * sign(weights.x);
    top[i] = activate(fma(v, weights, afpvec4(afp(0.5)))) + mix(v, v.wzyx, afpvec4(0.5hf));
    sums[i] = vec2(sum, big);
}
