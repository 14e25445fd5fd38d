@group(0) @binding(0) var t: texture_storage_2d<bgra8unorm, read_write>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { textureStore(t, id.xy, textureLoad(t, id.xy)); }
