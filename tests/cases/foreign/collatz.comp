// {"tensors": [["u32", [1, 2, 3, 6, 7, 9, 27, 97]]], "groups": [8, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Numbers { uint numbers[]; };
uint steps(uint n) {
    uint count = 0u;
    do {
        if (n == 1u) break;
        n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u;
        count++;
    } while (true);
    return count;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    numbers[i] = steps(numbers[i]);
}
