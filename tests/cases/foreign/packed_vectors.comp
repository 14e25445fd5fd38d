// {"tensors": [["u32", [67305985, 4278255617, 2147549183]], ["u32", 10], ["u64", [1311768467463790320]], ["u16", 8], ["f16", 4]]}
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Words { uint32_t words[]; };
layout(binding = 1) writeonly buffer Out { uint32_t o[]; };
layout(binding = 2) buffer Wide { uint64_t wide; };
layout(binding = 3) writeonly buffer Shorts { u16vec4 shorts[]; };
layout(binding = 4) writeonly buffer Halves { f16vec2 halves[]; };
void main() {
    u8vec4 bytes = unpack8(words[0]);
    i8vec4 signs = unpack8(int32_t(words[1]));
    o[0] = pack32(bytes.wzyx);
    o[1] = pack32(bytes + uint8_t(254));
    o[2] = uint32_t(pack32(signs * int8_t(-3)));
    u16vec2 pair = unpack16(words[2]);
    o[3] = pack32(pair.yx);
    o[4] = pack32(pair << uint16_t(4));
    u32vec2 parts = unpack32(wide);
    o[5] = parts.x;
    o[6] = parts.y;
    shorts[0] = unpack16(wide);
    o[7] = uint32_t(pack16(bytes.xw));
    o[8] = packFloat2x16(f16vec2(1.5hf, -2.0hf));
    halves[0] = unpackFloat2x16(0xC0003E00u) * float16_t(0.5);
    halves[1] = uint16BitsToFloat16(u16vec2(0x3C00, 0x7BFF));
    o[9] = uint32_t(float16BitsToUint16(0.1hf)) + uint32_t(bytes.x == uint8_t(1)) * 100000u;
    shorts[1] = u16vec4(dot(vec2(1.0), vec2(2.0, 3.0)), -1, 65536 + 9, int8_t(-2));
    wide = pack64(parts.yx) ^ uint64_t(1);
}
