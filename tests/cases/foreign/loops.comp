// {"tensors": [["i32", 6]], "groups": [6, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { int a[]; };
void main() {
    int n = int(gl_GlobalInvocationID.x);
    int sum = 0;
    for (int i = 0; i < 10; i++) {
        if (i == n) continue;
        for (int j = 0; ; j++) {
            if (j > i) break;
            if (j == 3) {
                sum += 100;
                break;
            }
            sum += j;
        }
        if (sum > 500) break;
    }
    a[n] = sum;
}
