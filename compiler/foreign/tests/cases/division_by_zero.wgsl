@group(0) @binding(1) var<storage, read_write> n: array<i32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    n[0] = 1 / 0;
}
