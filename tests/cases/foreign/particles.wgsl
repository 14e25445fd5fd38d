// {"tensors": [["f32", [0, 0, 0, 1, 1, 0, 0, 0, 1, 2, 3, 2, 0, 1, 0, 0]]], "groups": [2, 1, 1]}
struct Particle {
    position: vec3f,
    mass: f32,
    velocity: vec3f,
    age: f32,
}
@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;
const DT = 0.5;
fn moved(p: Particle) -> Particle {
    let velocity = p.velocity + vec3f(0.0, -10.0, 0.0) * DT / p.mass;
    return Particle(p.position + velocity * DT, p.mass, velocity, p.age + DT);
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    particles[id.x] = moved(particles[id.x]);
}
