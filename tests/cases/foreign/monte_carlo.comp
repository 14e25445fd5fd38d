// {"tensors": [["u32", 8]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 4) in;
layout(binding = 0) writeonly buffer Hits { uint hits[]; };
uint state;
float random() {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return float(state >> 8) / 16777216.0;
}
void main() {
    state = gl_GlobalInvocationID.x * 747796405u + 2891336453u;
    uint inside = 0u;
    for (int i = 0; i < 100; i++) {
        vec2 p = vec2(random(), random());
        if (dot(p, p) < 1.0) inside += 1u;
    }
    hits[gl_GlobalInvocationID.x] = inside;
}
