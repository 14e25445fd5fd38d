// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]], ["f32", [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1]], ["f32", 16]], "groups": [2, 2, 1]}
#version 450
#define TILE 2
#define SIZE 4
layout(local_size_x = TILE, local_size_y = TILE) in;
layout(binding = 0) readonly buffer A { float a[]; };
layout(binding = 1) readonly buffer B { float b[]; };
layout(binding = 2) writeonly buffer C { float c[]; };
shared float tile_a[TILE][TILE];
shared float tile_b[TILE][TILE];
void main() {
    uint x = gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    uint column = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    float sum = 0.0;
    for (uint tile = 0u; tile < uint(SIZE / TILE); tile++) {
        tile_a[y][x] = a[row * uint(SIZE) + tile * uint(TILE) + x];
        tile_b[y][x] = b[(tile * uint(TILE) + y) * uint(SIZE) + column];
        barrier();
        for (uint k = 0u; k < uint(TILE); k++) {
            sum += tile_a[y][k] * tile_b[k][x];
        }
        barrier();
    }
    c[row * uint(SIZE) + column] = sum;
}
