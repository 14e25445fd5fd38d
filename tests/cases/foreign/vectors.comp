// {"tensors": [["f32", [1, 2, 2, 0, 4, 0, 3, 0]], ["f32", 12]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { vec4 a[]; };
layout(binding = 1) buffer B { vec4 b[]; };
void main() {
    vec3 u = a[0].xyz;
    vec3 v = a[1].xyz;
    b[0] = vec4(cross(u, v), dot(u, v));
    b[1] = vec4(normalize(v), length(u));
    b[2] = vec4(reflect(u, vec3(0.0, 1.0, 0.0)), distance(u, v));
}
