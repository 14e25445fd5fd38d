struct S { x: f32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let s = S { x: 1.0 };
}
