
cbuffer View : register(b0) { row_major float3x4 turn; float2 shift; float lift; };
StructuredBuffer<float4> points : register(t1);
RWStructuredBuffer<float4> moved : register(u2);
RWByteAddressBuffer raw : register(u3);
static const float FACTORS[3] = { 1.0, 10.0, 100.0 };

float4 move(float4 p, inout uint calls) {
    calls++;
    return float4(mul(turn, p) + float3(shift, lift), FACTORS[calls]);
}

[numthreads(1, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    uint calls = id.x, before;
    moved[id.x] = move(points[id.x], calls);
    raw.InterlockedAdd(0, id.x + 1, before);
    raw.InterlockedMax(4, id.x * 3);
    raw.Store(8 + 4 * id.x, asuint(points[id.x].y));
}
