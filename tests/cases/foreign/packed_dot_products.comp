// {"tensors": [["i32", [16909060, 2139160321]], ["i32", [33489409, 2139062274]], ["i32", 10]], "groups": [2, 1, 1]}
#version 450
#extension GL_EXT_integer_dot_product : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { int a[]; };
layout(binding = 1) readonly buffer B { int b[]; };
layout(binding = 2) writeonly buffer Out { int o[][5]; };
void main() {
    uint i = gl_WorkGroupID.x;
    o[i][0] = dotPacked4x8EXT(a[i], b[i]);
    o[i][1] = dotPacked4x8AccSatEXT(a[i], b[i], 2147483647 - 10);
    o[i][2] = int(dotPacked4x8EXT(uint(a[i]), uint(b[i])));
    o[i][3] = dotEXT(i8vec3(a[i], -2, 3), i8vec3(b[i], 5, -7));
    o[i][4] = dotEXT(ivec2(a[i] & 0xff, 3), ivec2(4, 5));
}
