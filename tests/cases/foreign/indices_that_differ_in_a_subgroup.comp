// {"tensors": [["u32", [3, 0, 2, 1]], ["f32", [1, 2, 3, 4]], ["f32", 4]]}
#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer Order { uint order[]; };
layout(binding = 1) readonly buffer In { float a[]; };
layout(binding = 2) writeonly buffer Out { float o[]; };
void main() {
    uint lane = gl_LocalInvocationIndex;
    o[nonuniformEXT(order[lane])] = a[lane] + a[nonuniformEXT(order[lane])] * 10.0;
}
