// {"tensors": [["u8", [0, 56, 55, 137, 99, 12, 143, 132, 98, 82, 144, 156, 185, 33, 167, 203, 120, 85, 0, 52, 151, 143, 24, 34, 25, 224, 137, 249, 166, 77, 109, 41, 221, 110, 229, 135, 0, 188, 5, 27, 189, 42, 150, 170, 3, 161, 151, 168, 71, 211, 42, 149, 105, 238, 0, 64, 105, 212, 104, 60, 21, 26, 16, 91, 65, 30, 245, 123, 171, 25, 51, 158]], ["f32", [-1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5, 1.0, 0.0, -1.0, 1.5, 0.5, -0.5, -1.5]], ["f32", 2]], "groups": [2, 1, 1], "push": [64]}
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_EXT_control_flow_attributes : enable
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#define BLOCK 32
layout(local_size_x = 8, local_size_y = 1, local_size_z = 1) in;
layout(push_constant) uniform Parameters { uint32_t columns; } p;
struct Block { float16_t scale; uint8_t quants[BLOCK / 2]; };
layout(binding = 0) readonly buffer Matrix { Block blocks[]; };
layout(binding = 1) readonly buffer Vector { float v[]; };
layout(binding = 2) writeonly buffer Result { float result[]; };
shared float partial[gl_WorkGroupSize.x];
void main() {
    const uint row = gl_WorkGroupID.x, lane = gl_LocalInvocationID.x, n_blocks = p.columns / BLOCK;
    float sum = 0.0;
    for (uint i = lane; i < p.columns / 2; i += gl_WorkGroupSize.x) {
        const uint block = row * n_blocks + i / (BLOCK / 2), at = i % (BLOCK / 2);
        const uint quant = uint(blocks[block].quants[at]);
        const vec2 weights = (vec2(quant & 0xF, quant >> 4) - 8.0f) * float(blocks[block].scale);
        const uint column = i / (BLOCK / 2) * BLOCK + at;
        sum += dot(weights, vec2(v[column], v[column + BLOCK / 2]));
    }
    partial[lane] = sum;
    barrier();
    [[unroll]] for (uint s = gl_WorkGroupSize.x / 2; s > 0; s >>= 1) {
        if (lane < s) partial[lane] += partial[lane + s];
        barrier();
    }
    if (lane == 0) result[row] = partial[0];
}
