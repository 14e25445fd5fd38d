// {"tensors": [["u32", [7, 8, 9]], ["u32", 6]], "groups": [1, 1, 1]}
@group(0) @binding(0) var<storage, read_write> a: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(1)
fn main() {
    seen[0] = atomicExchange(&a[0], 70u);
    let hit = atomicCompareExchangeWeak(&a[1], 8u, 80u);
    seen[1] = hit.old_value;
    let miss = atomicCompareExchangeWeak(&a[2], 8u, 90u);
    seen[2] = miss.old_value;
    seen[3] = select(0u, 1u, miss.exchanged);
    seen[4] = atomicSub(&a[0], 1u);
    seen[5] = atomicXor(&a[1], 3u);
}
