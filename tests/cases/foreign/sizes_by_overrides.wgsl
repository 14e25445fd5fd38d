// {"tensors": [["f32", 16]], "spec": [8, 1], "groups": [2, 1, 1]}
override WG: u32 = 64;
override BACKWARDS: bool = false;
override HALF: u32 = WG / 2;
override SCALE: f32 = 0.5;
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
var<workgroup> tile: array<f32, WG>;
@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    tile[local.x] = f32(id.x);
    workgroupBarrier();
    var place = local.x;
    if BACKWARDS { place = WG - 1 - local.x; }
    a[id.x] = tile[place] * SCALE + f32(HALF) * 100.0;
}
