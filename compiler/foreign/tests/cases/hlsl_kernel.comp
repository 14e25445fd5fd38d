RWStructuredBuffer<float> x : register(u0);

[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    x[id.x] *= 2.0;
}
