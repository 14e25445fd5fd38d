// {"tensors": [["f32", [1, 2, 2, 0, 4, 0, 3, 0]], ["f32", 12]]}
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> b: array<vec4f>;
@compute @workgroup_size(1)
fn main() {
    let u = a[0].xyz;
    let v = a[1].xyz;
    b[0] = vec4f(cross(u, v), dot(u, v));
    b[1] = vec4f(normalize(v), length(u));
    b[2] = vec4f(reflect(u, vec3f(0.0, 1.0, 0.0)), distance(u, v));
}
