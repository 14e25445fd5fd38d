@group(0) @binding(0) var<storage, read_write> data: array<u8>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[0] = u8(1); }
