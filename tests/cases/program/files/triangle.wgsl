@vertex
fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i) - 1.0, f32(i & 1u), 0.0, 1.0);
}

@fragment
fn red() -> @location(0) vec4f {
    return vec4f(1.0, 0.0, 0.0, 1.0);
}
