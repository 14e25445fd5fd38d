// {"tensors": [["f32", [0.3, 0.75, -0.6]], ["f32", 84]], "groups": [3, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) writeonly buffer B { float b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    float x = a[i];
    uint at = i * 28u;
    b[at] = round(asin(x) * 100.0);
    b[at + 1u] = round(acos(x) * 100.0);
    b[at + 2u] = atan(x, 2.0) + atan(x);
    b[at + 3u] = sinh(x);
    b[at + 4u] = cosh(x);
    b[at + 5u] = asinh(x);
    b[at + 6u] = acosh(x + 2.0);
    b[at + 7u] = atanh(x);
    b[at + 8u] = radians(x * 100.0);
    b[at + 9u] = degrees(x);
    b[at + 10u] = ldexp(x, 3);
    b[at + 11u] = mod(x * 10.0, 4.0);
    b[at + 12u] = fma(x, 2.0, 1.0);
    b[at + 13u] = roundEven(x * 10.0);
    b[at + 14u] = isnan(uintBitsToFloat(0x7f800000u + i)) ? 1.0 : 0.0;
    b[at + 15u] = isinf(uintBitsToFloat(0x7f800000u + i)) ? 1.0 : 0.0;
    vec3 n = normalize(vec3(x, 1.0, 0.0));
    b[at + 16u] = refract(n, vec3(0.0, -1.0, 0.0), 0.5).x;
    b[at + 17u] = faceforward(n, vec3(1.0, 0.0, 0.0), n).y;
    b[at + 18u] = mix(1.0, 5.0, x);
    b[at + 19u] = mix(vec2(1.0), vec2(2.0), bvec2(x > 0.0, x < 0.0)).y;
    b[at + 20u] = float(findMSB(uint(abs(x) * 100.0)) + findLSB(uint(abs(x) * 100.0)));
    b[at + 21u] = float(bitCount(uint(abs(x) * 100.0)));
    b[at + 22u] = float(bitfieldExtract(int(x * 100.0), 1, 4));
    b[at + 23u] = float(bitfieldReverse(uint(abs(x) * 100.0)) >> 20u);
    b[at + 24u] = outerProduct(vec2(x, 1.0), vec2(2.0, 3.0))[1].x;
    b[at + 25u] = inverse(mat3(2.0))[1][1] + exp2(x) + log2(x + 1.0);
    b[at + 26u] = unpackHalf2x16(packHalf2x16(vec2(0.375, x))).x + unpackSnorm2x16(packSnorm2x16(vec2(x, 0.25))).y;
    b[at + 27u] = intBitsToFloat(floatBitsToInt(x)) + uintBitsToFloat(floatBitsToUint(x));
}
