@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@group(0) @binding(1) var<storage, read_write> n: atomic<u32>;
@group(0) @binding(2) var s: texture_storage_2d<rgba8unorm, read_write>;
@group(0) @binding(3) var t: texture_2d<f32>;
@group(0) @binding(4) var linear: sampler;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = o[id.x];
    let bits = bitcast<u32>(x) + u32(bitcast<i32>(x));
    let counts = countOneBits(bits) + reverseBits(bits) + extractBits(bits, 1u, 2u) + insertBits(bits, 1u, 2u, 3u);
    let first = firstLeadingBit(bits) + firstTrailingBit(bits);
    var y = fract(x) + fma(x, x, x) + round(x) + bitcast<f32>(counts + first);
    if (x != x || abs(x) > 3.4028234e38 || subgroupAll(x == subgroupBroadcastFirst(x))) { y = 0.0; }
    let size = textureDimensions(s);
    textureStore(s, vec2(0u, size.y - 1u), textureLoad(s, vec2(0u, 0u)) + textureSampleLevel(t, linear, vec2(0.5), 0.0));
    storageBarrier();
    workgroupBarrier();
    o[id.x] = y + f32(atomicExchange(&n, 1u)) + f32(atomicCompareExchangeWeak(&n, 1u, 2u).old_value);
}
