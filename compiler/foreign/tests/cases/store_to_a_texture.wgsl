@group(0) @binding(2) var t: texture_2d<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(t, vec2<i32>(0), vec4<f32>(1.0));
}
