@group(0) @binding(0) var t: texture_storage_cube<r32float, write>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { }
