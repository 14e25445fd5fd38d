// {"tensors": [["i32", [3, -1, 4, 2]], ["i32", 24], ["f32", 12], ["u32", 24]]}
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer In { int values[]; };
layout(binding = 1) writeonly buffer Ints { int ints[][4]; };
layout(binding = 2) writeonly buffer Floats { float floats[][4]; };
layout(binding = 3) writeonly buffer Bits { uint bits[][4]; };
void main() {
    uint lane = gl_SubgroupInvocationID;
    int v = values[lane];
    ints[0][lane] = subgroupAdd(v);
    ints[1][lane] = subgroupInclusiveAdd(v);
    ints[2][lane] = subgroupExclusiveAdd(v);
    ints[3][lane] = subgroupInclusiveMin(v);
    ints[4][lane] = subgroupInclusiveMax(v);
    ints[5][lane] = subgroupExclusiveMul(v);
    float f = float(v) * 0.5;
    floats[0][lane] = subgroupMul(f);
    floats[1][lane] = subgroupMin(f) + subgroupMax(f) * 10.0;
    floats[2][lane] = subgroupInclusiveMul(vec2(f, 1.0)).x;
    uint b = 1u << (v & 3);
    bits[0][lane] = subgroupOr(b);
    bits[1][lane] = subgroupInclusiveOr(b);
    bits[2][lane] = subgroupExclusiveXor(b);
    bits[3][lane] = subgroupAnd(~b) & 0xfu;
    bits[4][lane] = subgroupInclusiveXor(uvec3(1u, b, 2u)).y;
    bits[5][lane] = uint(subgroupExclusiveOr(v > 3));
}
