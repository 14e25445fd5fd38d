
struct Constants { uint count; float scale; };
[[vk::push_constant]] ConstantBuffer<Constants> constants;
StructuredBuffer<float> source : register(t0);
RWStructuredBuffer<float> target : register(u1);
groupshared float cells[8];

[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID, uint lane : SV_GroupIndex, uint3 group : SV_GroupID) {
    cells[lane] = id.x < constants.count ? source[id.x] * constants.scale : 0.0;
    GroupMemoryBarrierWithGroupSync();
    [unroll] for (uint step = 4; step > 0; step >>= 1) {
        if (lane < step) cells[lane] += cells[lane + step];
        GroupMemoryBarrierWithGroupSync();
    }
    if (lane == 0) target[group.x] = cells[0];
}
