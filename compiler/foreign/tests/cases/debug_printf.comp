#version 450
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main() { debugPrintfEXT("%d", 1); data[0] = 1.0; }
