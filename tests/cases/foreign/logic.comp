// {"tensors": [["i32", 8]], "groups": [8, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer A { int a[]; };
void main() {
    int i = int(gl_GlobalInvocationID.x);
    bool one = (i & 1) != 0;
    bool two = (i & 2) != 0;
    bool four = (i & 4) != 0;
    int result = 0;
    if (one && two || four) result += 1;
    if (!one && (two || four)) result += 2;
    if (any(bvec3(one, two, four)) && !all(bvec3(one, two, four))) result += 4;
    if (one == two) result += 8;
    a[i] = result;
}
