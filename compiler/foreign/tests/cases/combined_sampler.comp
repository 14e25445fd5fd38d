#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
layout(set = 0, binding = 1) uniform sampler2D picture;
void main() {
    data[0] = textureLod(picture, vec2(1.0), 0.0).x;
}
