// {"tensors": [["f32", [1, 2, 3, 4]], ["f32", 4]], "groups": [4, 1, 1], "push": [10.0, 0.5]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer A { float a[]; };
layout(set = 0, binding = 1) writeonly buffer B { float b[]; };
layout(push_constant) uniform Line { float slope; float start; } line;
void main() {
    uint i = gl_GlobalInvocationID.x;
    b[i] = line.slope * a[i] + line.start;
}
