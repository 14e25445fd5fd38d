// {"tensors": [["f32", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 10, 0, 0, 1, 0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 5, 1]], ["f32", [1, 2, 3, 0, 0, 1]], ["u32", [256, 1]], ["u32", [2147516415, 65535]], ["f32", 8]], "groups": [2, 1, 1]}
#version 460
layout(local_size_x = 1) in;
layout(std140, set = 0, binding = 0) uniform Skeleton { mat4 matrices[2]; } skeleton;
layout(std430, set = 0, binding = 1) readonly buffer Positions { float positions[]; };
layout(std430, set = 0, binding = 2) readonly buffer Joints { uint joints[]; };
layout(std430, set = 0, binding = 3) readonly buffer Weights { uint weights[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Skinned { vec4 skinned[]; };
vec3 position(uint i) { return vec3(positions[3u * i], positions[3u * i + 1u], positions[3u * i + 2u]); }
void main() {
    uint i = gl_GlobalInvocationID.x;
    uvec2 joint = uvec2(joints[i], joints[i] >> 8) & 0xffu;
    vec2 weight = unpackUnorm2x16(weights[i]);
    weight /= weight.x + weight.y;
    mat4 blended = weight.x * skeleton.matrices[joint.x] + skeleton.matrices[joint.y] * weight.y;
    skinned[i] = blended * vec4(position(i), 1.0);
}
