#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(set=0,binding=1,r32f) writeonly uniform image2D p;
void main() { d[0] = imageLoad(p, ivec2(0)).x; }
