// {"tensors": [["f32", [6.5, -0.3125, 1024, 0, -7.75]], ["f32", 35], ["i32", 8], ["u32", 4], ["f32", 6]], "groups": [5, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[][7]; };
layout(binding = 2) writeonly buffer C { int c[]; };
layout(binding = 3) writeonly buffer D { uint d[]; };
layout(binding = 4) writeonly buffer E { float e[]; };
void main() {
    uint i = gl_WorkGroupID.x;
    float x = a[i], whole;
    int exponent;
    b[i][0] = frexp(x, exponent);
    b[i][1] = exponent;
    b[i][2] = ldexp(b[i][0], exponent + 2);
    b[i][3] = modf(x, whole);
    b[i][4] = whole;
    b[i][5] = roundEven(x);
    b[i][6] = floor(x) - trunc(x);
    if (i != 0u) return;
    ivec2 exponents;
    vec2 parts = frexp(vec2(a[0], a[4]), exponents);
    c[0] = exponents.x; c[1] = exponents.y; c[2] = int(parts.y * 1000.0);
    c[3] = floatBitsToInt(-2.0); c[4] = int(isinf(a[0] / a[3])) + 2 * int(isnan(a[3] / a[3]));
    c[5] = int(sign(a[4])); c[6] = int(smoothstep(0.0, 8.0, a[0] - 2.5) * 100.0); c[7] = int(step(a[1], a[3]));
    d[0] = packHalf2x16(vec2(a[0], a[1]));
    d[1] = packUnorm4x8(vec4(0.2, 1.5, -1.0, 1.0));
    d[2] = packSnorm2x16(vec2(-1.0, 0.5));
    d[3] = packUnorm2x16(vec2(1.0, 0.25));
    vec2 half_floats = unpackHalf2x16(d[0]);
    vec4 colour = unpackUnorm4x8(0xFF8000FFu);
    e[0] = half_floats.x; e[1] = half_floats.y; e[2] = colour.x + colour.w * 10.0; e[3] = colour.z;
    e[4] = fma(a[0], 2.0, a[1]);
    e[5] = unpackSnorm4x8(0x7F81u).x + unpackSnorm2x16(0x80007FFFu).y * 10.0;
}
