// {"tensors": [["f32", [5, 3, 8, 1, 9, 2, 7, 4]], ["f32", 8], ["i32", 8]], "groups": [2, 1, 1]}
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) readonly buffer A { float a[8]; };
layout(set = 0, binding = 1) writeonly buffer B { float b[]; };
layout(set = 0, binding = 2) buffer C { int c[]; };
const float weights[5] = float[5](1.0, 4.0, 6.0, 4.0, 1.0);
struct Pair { int first; ivec2 others[2]; };
void sort(inout float window[5]) {
    for (int i = 1; i < 5; i++) {
        float value = window[i];
        int j = i - 1;
        while (j >= 0 && window[j] > value) {
            window[j + 1] = window[j];
            j--;
        }
        window[j + 1] = value;
    }
}
void main() {
    int i = int(gl_GlobalInvocationID.x);
    float window[5];
    float sum = 0.0;
    for (int k = 0; k < 5; k++) {
        window[k] = a[clamp(i + k - 2, 0, 7)];
        sum += window[k] * weights[k];
    }
    sort(window);
    b[i] = sum * 1000.0 + window[2] * 10.0 + window[i % 5];
    Pair pairs[2];
    for (int k = 0; k < 4; k++) {
        pairs[(i + k) % 2].first = k;
        pairs[(i + k) % 2].others[k / 2][i % 2] = i * 10 + k;
        pairs[(i + k) % 2].others[k / 2][1 - i % 2] = -k;
    }
    Pair chosen = pairs[i % 2];
    c[i] = chosen.first * 10000 + chosen.others[1].x * 100 + chosen.others[0].y;
}
