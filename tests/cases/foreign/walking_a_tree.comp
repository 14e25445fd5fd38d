// {"tensors": [["f32", [0, 8, 0, 4, 4, 8, 0, 2, 2, 4, 5, 6, 6.5, 8]], ["i32", [1, 2, 3, 4, 5, 6, -1, 0, -2, 0, -3, 0, -4, 0]], ["f32", [1, 3, 5.5, 6.2, 7, 9]], ["i32", 12]], "groups": [6, 1, 1]}
#version 450
layout(local_size_x = 1) in;
struct Bounds { float low; float high; };
layout(std430, binding = 0) readonly buffer Nodes { Bounds bounds[]; };
layout(std430, binding = 1) readonly buffer Children { ivec2 children[]; };
layout(std430, binding = 2) readonly buffer Points { float points[]; };
layout(std430, binding = 3) writeonly buffer Found { ivec2 found[]; };
bool contains(Bounds b, float x) { return b.low <= x && x < b.high; }
// A leaf has a negative number in place of its children.
int find(float x, out int visited) {
    int stack[16];
    int top = 0;
    stack[top++] = 0;
    visited = 0;
    while (top > 0) {
        int node = stack[--top];
        visited++;
        if (!contains(bounds[node], x)) continue;
        ivec2 next = children[node];
        if (next.x < 0) return -next.x;
        stack[top++] = next.y;
        stack[top++] = next.x;
    }
    return 0;
}
void main() {
    uint i = gl_WorkGroupID.x;
    int visited;
    int leaf = find(points[i], visited);
    found[i] = ivec2(leaf, visited);
}
