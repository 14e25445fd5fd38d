#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
#define F(a,b) a+b
float x = F(1.0);
void main() { d[0] = 1.0; }
