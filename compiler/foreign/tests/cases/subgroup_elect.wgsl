enable subgroups;
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(32)
fn main(@builtin(subgroup_invocation_id) lane: u32) {
    let total = subgroupAdd(1.0);
    if (subgroupElect()) { data[0] = total; }
}
