// {"tensors": [["f32", [0, 0, 0, 1, 1, 0, 0, 0, 1, 2, 3, 2, 0, 1, 0, 0]]], "groups": [2, 1, 1], "push": [0.5]}
#version 450
layout(local_size_x = 1) in;
struct Particle {
    vec3 position;
    float mass;
    vec3 velocity;
    float age;
};
layout(push_constant) uniform Step { float dt; } step_;
layout(std430, binding = 0) buffer Particles { Particle particles[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    Particle p = particles[i];
    p.velocity += vec3(0.0, -10.0, 0.0) * step_.dt / p.mass;
    p.position += p.velocity * step_.dt;
    p.age += step_.dt;
    particles[i] = p;
}
