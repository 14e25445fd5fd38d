#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { float a[]; };
void main() {
    uint n = subgroupBallotBitCount(uvec4(1u));
    a[0] = float(n);
}
