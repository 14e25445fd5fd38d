@group(0) @binding(2) var t: texture_storage_2d<r32float>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = 1;
}
