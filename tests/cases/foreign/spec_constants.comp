// {"tensors": [["f32", 4], ["i32", 4]], "spec": [2.5, 7], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const float scale = 1.0;
layout(constant_id = 1) const int offset = 0;
layout(binding = 0) buffer A { float a[]; };
layout(binding = 1) buffer B { int b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    a[i] = float(i) * scale;
    b[i] = int(i) + offset * 2;
}
