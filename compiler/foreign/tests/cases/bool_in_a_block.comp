#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(set=0,binding=1) buffer C { bool b; };
void main() { d[0] = b ? 1.0 : 2.0; }
