@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = 1.0; var y = 1.0; x = y = 2.0;
}
