#version 450
layout(local_size_x = 64) in;
layout(location = 0) out vec4 color; void main() { color = vec4(1.0); }
