// {"tensors": [["u32", 4], ["u32", 12], ["u32", 20], ["u32", 4]]}
#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 4) in;
layout(binding = 0) writeonly buffer Basic { uint basic[]; };
layout(binding = 1) writeonly buffer Counts { uint counts[][4]; };
layout(binding = 2) writeonly buffer Masks { uint masks[][4]; };
layout(binding = 3) writeonly buffer Votes { uint votes[]; };
void main() {
    uint lane = gl_SubgroupInvocationID;
    basic[lane] = uint(subgroupElect()) + gl_NumSubgroups * 10u + gl_SubgroupID * 100u + uint(gl_SubgroupSize >= 4u) * 1000u;
    uvec4 odd = subgroupBallot((lane & 1u) == 1u || lane == 0u);
    counts[0][lane] = subgroupBallotBitCount(odd) + 10u * subgroupBallotInclusiveBitCount(odd)
        + 100u * subgroupBallotExclusiveBitCount(odd);
    counts[1][lane] = subgroupBallotFindLSB(odd & gl_SubgroupGeMask) + 10u * subgroupBallotFindMSB(odd);
    counts[2][lane] = uint(subgroupInverseBallot(odd)) + 2u * uint(subgroupBallotBitExtract(odd, 2u));
    masks[0][lane] = gl_SubgroupEqMask.x;
    masks[1][lane] = gl_SubgroupGeMask.x & 15u;
    masks[2][lane] = gl_SubgroupGtMask.x & 15u;
    masks[3][lane] = gl_SubgroupLeMask.x;
    masks[4][lane] = gl_SubgroupLtMask.x;
    uint first = lane >= 2u ? subgroupBroadcastFirst(lane) : subgroupBroadcast(lane, 1u) + 10u;
    votes[lane] = first + 100u * uint(subgroupAllEqual(lane)) + 200u * uint(subgroupAllEqual(first * 0u))
        + 1000u * uint(subgroupAny(lane == 3u)) + 10000u * uint(subgroupAll(lane < 3u));
}
