// {"tensors": [["f32", [3, 1, 2, 9, 8, 7, 0.5, 5, -1, 4, 4, 4]]], "groups": [3, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { float a[]; };
void main() {
    uint base = gl_GlobalInvocationID.x * 4u;
    float row[4];
    for (uint i = 0u; i < 4u; i++) row[i] = a[base + i];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3 - i; j++) {
            if (row[j] > row[j + 1]) {
                float other = row[j];
                row[j] = row[j + 1];
                row[j + 1] = other;
            }
        }
    }
    for (uint i = 0u; i < 4u; i++) a[base + i] = row[i];
}
