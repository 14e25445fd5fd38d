// {"tensors": [["f32", [0, 0, 8, 0, 0, 4, 4, 0]], ["f32", 8]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) writeonly buffer B { float b[]; };
const float weights[3] = float[3](0.25, 0.5, 0.25);
void main() {
    int i = int(gl_GlobalInvocationID.x);
    float sum = 0.0;
    for (int k = -1; k <= 1; k++) {
        int at = clamp(i + k, 0, a.length() - 1);
        sum += weights[k + 1] * a[at];
    }
    b[i] = sum;
}
