#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { float data[]; };
layout(set = 0, binding = 1) uniform texture2D picture;
layout(set = 0, binding = 2) uniform sampler look;
void main() {
    data[0] = texture(sampler2D(picture, look), vec2(0.0)).x;
}
