// {"tensors": [["i32", 8]], "groups": [8, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { int a[]; };
void main() {
    int i = int(gl_GlobalInvocationID.x);
    int result = 0;
    switch (i) {
        case 0:
            result = 100;
            break;
        case 1:
        case 2:
            result = 200 + i;
            break;
        case 5:
            result = -1;
            break;
        default:
            result = i * i;
    }
    a[i] = result;
}
