// {"tensors": [["f32", [10, 20, 30, 40]], ["f32", 20], ["i32", 8]]}
#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_quad : require
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer In { float values[4]; };
layout(binding = 1) writeonly buffer Out { float o[][4]; };
layout(binding = 2) writeonly buffer Ints { ivec2 pairs[]; };
void main() {
    uint lane = gl_SubgroupInvocationID;
    float v = values[lane];
    o[0][lane] = subgroupShuffle(v, 3u - lane);
    o[1][lane] = subgroupShuffleXor(v, 2u);
    float below = subgroupShuffleUp(v, 1u), above = subgroupShuffleDown(v, 1u);
    o[2][lane] = (lane == 0u ? 0.0 : below) + (lane == 3u ? 0.0 : above) * 100.0;
    o[3][lane] = subgroupQuadBroadcast(v, 2u) + subgroupQuadSwapHorizontal(v) * 100.0;
    o[4][lane] = subgroupQuadSwapVertical(v) + subgroupQuadSwapDiagonal(v) * 100.0;
    pairs[lane] = ivec2(subgroupShuffle(bvec2(lane == 2u, true), 2u)) + 10 * subgroupShuffleXor(ivec2(lane, -1), 1u);
}
