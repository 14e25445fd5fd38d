// {"tensors": [["f32", [-1, 0, 0.25, 0.5, 1, 2]], ["f32", 30]], "groups": [6, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    b[i * 5u] = clamp(x, 0.0, 1.0);
    b[i * 5u + 1u] = mix(10.0, 20.0, x);
    b[i * 5u + 2u] = step(0.5, x);
    b[i * 5u + 3u] = smoothstep(0.0, 1.0, x);
    b[i * 5u + 4u] = x < 0.0 ? -x : max(x, 0.75) + min(x, 0.5) + sign(x);
}
