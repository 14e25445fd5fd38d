#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430) buffer Ptr { float x; };
layout(push_constant) uniform P { Ptr p; };
void main() { p.x = 1.0; }
