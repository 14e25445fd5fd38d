// {"tensors": [["f32", [1, 0, 0, 0.5, 2, 0, -1, 1]], ["f32", 8], ["i32", 6]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 1) in;
struct Ray { vec3 origin; float reach; };
struct Body { Ray ray; float speeds[3]; ivec2 cell; };
layout(std430, binding = 0) readonly buffer Rays { Ray rays[]; };
layout(std430, binding = 1) writeonly buffer Moved { Ray moved[]; };
layout(std430, binding = 2) writeonly buffer Log { ivec3 hits; int count; } trail;
int calls = 0;
void advance(inout Ray ray, float by);
void advance(inout Body body, const int steps) {
    for (int i = 0; i < steps; i++) {
        advance(body.ray, body.speeds[i]);
        body.cell[i & 1] += i + 1;
    }
}
void advance(inout Ray ray, float by) { ray.origin.x += by; ray.reach *= 2; ++calls; }
void advance(inout float x) { x += 0.25; }
void swap(inout int a, inout int b) { int t = a; a = b; b = t; }
bool split(Body body, out Ray near, out Ray far) {
    near = body.ray;
    far = Ray(body.ray.origin * 10.0, -body.ray.reach);
    body.ray.reach = 99.0;
    return near.reach > 3.0;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    Body body = Body(rays[i], float[3](0.5, 1.0, 2.0), ivec2(0));
    advance(body, 3);
    advance(body.ray.origin.y);
    advance(body.speeds[2]);
    Ray near, far;
    bool is_long = split(body, near, far);
    moved[i] = is_long ? far : near;
    int list[3] = { calls, body.cell.x, body.cell.y };
    swap(list[0], list[int(i) + 1]);
    if (i == 1u) { trail.hits = ivec3(list[0], list[1], list[2]); trail.count = int(body.speeds[2] * 4.0 + body.ray.reach * 10.0); }
}
