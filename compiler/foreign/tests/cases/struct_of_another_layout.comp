#version 450
layout(local_size_x = 64) in;
struct Q { vec2 a; float b[3]; };
layout(std430, binding = 0) buffer A { Q data[]; };
void main() {
    Q other = data[gl_GlobalInvocationID.x];
    other.b[1] += 1.0;
    data[gl_GlobalInvocationID.x] = other;
}
