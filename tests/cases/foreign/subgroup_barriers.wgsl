// {"tensors": [["u32", 16]], "groups": [1, 1, 1]}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 16>;
const memory = 136u;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) lane: u32) {
    tile[lane] = lane * memory;
    subgroupBarrier();
    let neighbour = tile[lane ^ 1u];
    subgroupBarrier();
    tile[lane] = neighbour;
    workgroupBarrier();
    out[lane] = tile[15u - lane];
}
