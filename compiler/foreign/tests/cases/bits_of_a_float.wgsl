@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = o[id.x];
    o[id.x] = f32(floatBitsToUint(x));
}
