// {"tensors": [["i32", [3, -1, 4, 1, -5, 9, 2, 6]], ["i32", 88], ["f32", 32]], "groups": [1, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> b: array<i32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(subgroup_invocation_id) own: u32,
        @builtin(subgroup_size) size: u32) {
    let x = a[lane];
    b[lane] = subgroupAdd(x);
    b[8u + lane] = subgroupMul(x);
    b[16u + lane] = subgroupMin(x);
    b[24u + lane] = subgroupMax(x);
    b[32u + lane] = subgroupAnd(x) + subgroupXor(x) * 100 + subgroupOr(x) * 10000;
    b[40u + lane] = subgroupInclusiveAdd(x);
    b[48u + lane] = subgroupExclusiveMul(x);
    b[56u + lane] = subgroupBroadcast(x, 2u) + subgroupBroadcastFirst(x) * 100;
    b[64u + lane] = subgroupShuffle(x, 7u - own);
    if own > 0u && own < 7u {
        b[72u + lane] = select(0, subgroupShuffleUp(x, 1u), own > 1u) + 100 * select(0, subgroupShuffleDown(x, 1u), own < 6u);
    }
    b[80u + lane] = quadBroadcast(x, 1u) + 100 * quadSwapX(x) + 10000 * quadSwapY(x) + 1000000 * quadSwapDiagonal(x);
    let y = f32(x) * 0.5;
    c[lane] = subgroupMin(y);
    c[8u + lane] = subgroupMax(y) + f32(size * 0u);
    c[16u + lane] = subgroupExclusiveAdd(y);
    c[24u + lane] = f32(subgroupBallot(x > 2).x);
}
