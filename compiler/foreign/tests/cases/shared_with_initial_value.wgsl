@group(0) @binding(0) var<storage, read_write> data: array<f32>;
var<workgroup> tile: array<array<f32, 16>, 16> = array<array<f32,16>,16>();
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { tile[0][0] = 1.0; }
