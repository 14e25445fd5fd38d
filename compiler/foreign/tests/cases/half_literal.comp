#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : enable
layout(local_size_x = 4) in;
layout(binding = 0) buffer Out { float16_t data[]; };
void main() { data[0] = float16_t(1.0); f16vec2 v = f16vec2(1.0); float x = 1.0hf; }
