// {"tensors": [["i32", [3, 1, 4, 1, 5, 9, 2, 6]], ["i32", 8]]}
#version 450
layout(local_size_x = 8) in;
layout(binding = 0) readonly buffer A { int a[]; };
layout(binding = 1) buffer Sums { int sums[]; };
shared int scan[2][8];
void main() {
    uint lane = gl_LocalInvocationID.x;
    uint now = 0u;
    scan[0][lane] = a[lane];
    barrier();
    for (uint step = 1u; step < 8u; step *= 2u) {
        uint next = 1u - now;
        scan[next][lane] = scan[now][lane] + (lane >= step ? scan[now][lane - step] : 0);
        now = next;
        barrier();
    }
    sums[lane] = scan[now][lane];
}
