#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer B { float d[]; };
layout(set=0,binding=1) uniform texture2D t;
layout(set=0,binding=2) uniform sampler s;
void main() { d[0] = texture(t, vec2(0)).x; }
