
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1)
fn double(@builtin(global_invocation_id) id: vec3u) { a[id.x] *= 2.0; }
@compute @workgroup_size(1)
fn halve(@builtin(global_invocation_id) id: vec3u) { a[id.x] *= 0.5; }
