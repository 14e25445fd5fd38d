// {"tensors": [["u32", [0, 1, 255, 2863311530]], ["u32", 28]], "groups": [4, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = a[id.x];
    let at = id.x * 7u;
    b[at] = countOneBits(x);
    b[at + 1u] = reverseBits(x) >> 24u;
    b[at + 2u] = firstLeadingBit(x);
    b[at + 3u] = firstTrailingBit(x);
    b[at + 4u] = extractBits(x, 3u, 5u);
    b[at + 5u] = countLeadingZeros(x) * 100u + countTrailingZeros(x);
    b[at + 6u] = insertBits(x, 5u, 8u, 4u);
}
