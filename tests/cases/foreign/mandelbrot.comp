// {"tensors": [["i32", 64]], "groups": [2, 2, 1]}
#version 450
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0) writeonly buffer Counts { int counts[]; };
void main() {
    vec2 c = vec2(-2.0, -1.25) + vec2(gl_GlobalInvocationID.xy) * vec2(0.375, 0.3125);
    vec2 z = vec2(0.0);
    int n = 0;
    while (n < 50 && dot(z, z) < 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n++;
    }
    counts[gl_GlobalInvocationID.y * 8u + gl_GlobalInvocationID.x] = n;
}
