@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { switch id.x { case 0u: { data[0] = 1.0; fallthrough; } default { data[1] = 2.0; } } }
