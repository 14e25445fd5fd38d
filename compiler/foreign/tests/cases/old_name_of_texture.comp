#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
layout(set=0, binding=2) uniform texture2D t; layout(set=0, binding=3) uniform sampler s; void main() { a[0] = texture2D(sampler2D(t, s), vec2(0.5)).x; }
