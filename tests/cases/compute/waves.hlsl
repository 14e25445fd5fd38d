
RWStructuredBuffer<uint> out_ : register(u0);
groupshared uint total;
struct Pair { uint a, b; uint sum() { return a + b; } };
namespace tools { uint tenfold(uint x) { return x * 10; } }
[numthreads(4, 1, 1)]
void main(uint i : SV_GroupIndex) {
    if (i == 0) total = 0;
    GroupMemoryBarrierWithGroupSync();
    uint before;
    InterlockedAdd(total, i * i);
    InterlockedOr(out_[4], 1u << (i * 2), before);
    GroupMemoryBarrierWithGroupSync();
    out_[i] = WaveActiveSum(i) + 10000 * countbits(WaveActiveBallot(i > 1).x);
    if (i != 3) return;
    Pair both = { total, firstbithigh(12u) };
    out_[5] = tools::tenfold(both.sum()) + firstbitlow(12u);
    InterlockedCompareExchange(out_[6], 7, 8, before);
    out_[7] = f32tof16(1.0) + (uint)round(mad(2.0, 3.0, 0.25));
}
