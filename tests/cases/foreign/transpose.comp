// {"tensors": [["i32", [1, 2, 3, 4, 5, 6]], ["i32", 6]], "groups": [3, 2, 1]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { int a[]; };
layout(binding = 1) writeonly buffer B { int b[]; };
void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    b[at.x * 2u + at.y] = a[at.y * 3u + at.x];
}
