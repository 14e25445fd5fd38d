@group(0) @binding(0) var<storage, read_write> a: array<f32>;
var<workgroup> part: array<f32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) lane: u32) {
    part[lane] = a[lane];
    if lane < 2u {
        workgroupBarrier();
    }
    a[lane] = part[3u - lane];
}
