// {"tensors": [["i64", [-9223372036854775808, 1000000007, -7]], ["u64", [18446744073709551615, 6364136223846793005]], ["i64", 9], ["u64", 6], ["f64", 3]]}
#version 450
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 1) in;
layout(std430) buffer;
layout(binding = 0) readonly buffer A { int64_t a[]; };
layout(binding = 1) readonly buffer B { uint64_t b[]; };
layout(binding = 2) writeonly buffer Signed { int64_t s[]; };
layout(binding = 3) writeonly buffer Unsigned { uint64_t u[]; };
layout(binding = 4) writeonly buffer Floats { double f[]; };
uint64_t step(inout uint64_t state) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (state ^ state >> 33) >> int(state >> 60);
}
void main() {
    s[0] = a[0] - 1l;
    s[1] = a[1] * a[1];
    s[2] = a[2] / 2l;
    s[3] = a[2] >> 1;
    s[4] = abs(a[2]) + sign(a[0]) + min(a[1], a[2]);
    s[5] = int64_t(-3.9);
    s[6] = clamp(a[1], -5l, 5l) | int64_t(1) << 40;
    s[7] = int64_t(a[0] < a[1]) + int64_t(uint64_t(a[2]) > b[1]) * 10l;
    i64vec2 v = i64vec2(a[1], a[2]) * i64vec2(3, -3);
    s[8] = v.x + v.y;
    uint64_t state = 42ul;
    u[0] = b[0] / 3ul;
    u[1] = b[0] % 1000ul;
    u[2] = step(state);
    u[3] = step(state) ^ state;
    u[4] = packUint2x32(uvec2(1u, 2u)) + uint64_t(unpackUint2x32(b[1]).y);
    u[5] = doubleBitsToUint64(1.5lf);
    f[0] = double(a[0]);
    f[1] = double(b[1] >> 11) * 0.5lf;
    f[2] = int64BitsToDouble(0x4008000000000000l);
}
