// {"tensors": [["f32", [0.3, 0.75, -0.6]], ["f32", 72]], "groups": [3, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = a[id.x];
    let at = id.x * 24u;
    b[at] = round(asin(x) * 100.0);
    b[at + 1u] = round(acos(x) * 100.0);
    b[at + 2u] = atan(x);
    b[at + 3u] = sinh(x);
    b[at + 4u] = cosh(x);
    b[at + 5u] = asinh(x);
    b[at + 6u] = acosh(x + 2.0);
    b[at + 7u] = atanh(x);
    b[at + 8u] = radians(x * 100.0);
    b[at + 9u] = degrees(x);
    b[at + 10u] = ldexp(x, 3);
    let parts = frexp(x * 10.0);
    b[at + 11u] = parts.fract;
    b[at + 12u] = f32(parts.exp);
    let pieces = modf(x * 10.0);
    b[at + 13u] = pieces.fract;
    b[at + 14u] = pieces.whole;
    b[at + 15u] = saturate(x);
    b[at + 16u] = fma(x, 2.0, 1.0);
    b[at + 17u] = quantizeToF16(x);
    let n = normalize(vec3f(x, 1.0, 0.0));
    b[at + 18u] = refract(n, vec3f(0.0, -1.0, 0.0), 0.5).x;
    b[at + 19u] = faceForward(n, vec3f(1.0, 0.0, 0.0), n).y;
    b[at + 20u] = dot(vec4f(x), vec4f(1.0, 2.0, 3.0, 4.0));
    b[at + 21u] = distance(n.xy, vec2f(1.0));
    b[at + 22u] = round(x * 10.0);
    b[at + 23u] = f32(sign(i32(x * 10.0)) + abs(i32(x * 10.0)));
}
