// {"tensors": [["i32", 2]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) writeonly buffer Out { int o[2]; };
#ifndef VULKAN
    #error this is GLSL for Vulkan
#endif
void main() {
    o[0] = VULKAN;
    o[1] = __VERSION__;
}
