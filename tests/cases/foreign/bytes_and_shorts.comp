// {"tensors": [["i8", [-128, 127, -1, 5]], ["u8", [255, 1, 200, 100]], ["i16", [-32768, 32767, 300, -300]], ["u16", [65535, 2, 0, 40000]], ["i32", 16], ["u8", 8]], "groups": [4, 1, 1]}
#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { int8_t a[]; };
layout(binding = 1) buffer B { uint8_t b[]; };
layout(binding = 2) buffer C { int16_t c[]; };
layout(binding = 3) buffer D { uint16_t d[]; };
layout(binding = 4) writeonly buffer Sums { ivec4 sums[]; };
layout(binding = 5) buffer Pairs { u8vec2 pairs[]; };
void main() {
    uint i = gl_WorkGroupID.x;
    int8_t x = a[i];
    uint8_t y = b[i];
    int16_t z = c[i];
    uint16_t w = d[i];
    // Arithmetic wraps at the width of its type; conversions extend.
    sums[i] = ivec4(int8_t(x + int8_t(1)), uint8_t(y + uint8_t(1)), z * int16_t(2), w - uint16_t(3));
    pairs[i] = u8vec2(y, 7) >> u8vec2(1, 1);
    a[i] = -x;
    b[i] = max(y, uint8_t(x));
    c[i] = z / int16_t(3);
    d[i] = uint16_t(w % uint16_t(7)) | uint16_t(0x100);
}
