// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]], ["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]], ["f32", 15], ["f32", 12]]}
#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 1) in;
layout(std430, row_major) buffer;
struct Vertex { vec3 position; float weight; vec2 uv; };
layout(std140, row_major, binding = 0) uniform View {
    mat3 rotation;
    layout(column_major) mat2x3 shear;
    layout(offset = 80) float scale;
    layout(offset = 88, align = 4) vec2 shift;
} view;
layout(scalar, binding = 1) readonly buffer Vertices { Vertex vertices[2]; };
layout(binding = 2) writeonly buffer Out { float o[15]; };
layout(binding = 3) writeonly buffer Rows { mat2x3 rows; layout(offset = 32) mat2 rest; };
void main() {
    vec3 turned = view.rotation * vec3(1, 0, 0);
    o[0] = turned.x; o[1] = turned.y; o[2] = turned.z;
    o[3] = view.rotation[2][0];
    o[4] = view.shear[0].z; o[5] = view.shear[1].x;
    o[6] = view.scale; o[7] = view.shift.x; o[8] = view.shift.y;
    o[9] = vertices[1].position.x; o[10] = vertices[1].position.z; o[11] = vertices[1].weight; o[12] = vertices[1].uv.y;
    o[13] = vertices[0].uv.x; o[14] = float(vertices.length());
    rows = mat2x3(1, 2, 3, 4, 5, 6);
    rest = mat2(7, 8, 9, 10);
}
