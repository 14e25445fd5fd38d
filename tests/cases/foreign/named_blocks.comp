// {"tensors": [["f32", [2, 0, 0, 1, 3, 5, 7, 11, 13]], ["f32", 8]]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer In { mat2 turn; float rest[]; } given;
layout(set = 0, binding = 1) buffer Out { float b[]; } found;
float doubled(float x) { return 2.0 * x; }
void main() {
    found.b[0] = (given.turn * vec2(1.0, 2.0)).x;
    found.b[1] = given.turn[1][1] + given.rest[0];
    found.b[2] = float(given.rest.length());
    found.b[3] = doubled(given.rest[given.rest.length() - 1]);
    mat2 copied = given.turn;
    found.b[4] = copied[0].x;
    found.b[5] += given.rest[2] + found.b[0];
    found.b[6]++;
    for (int i = 0; i < given.rest.length(); i++) {
        found.b[7] += given.rest[i];
    }
}
