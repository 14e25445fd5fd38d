// {"tensors": [["f64", 4]], "spec": [0.1, 3], "groups": [4, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const double SCALE = 2.0;
layout(constant_id = 1) const int UNUSED = 1;
layout(constant_id = 2) const uint OFFSET = 5u;
layout(binding = 0) buffer A { double a[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    a[i] = double(i) * SCALE + double(OFFSET);
}
