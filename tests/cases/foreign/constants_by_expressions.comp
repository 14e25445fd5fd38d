// {"tensors": [["i32", 10], ["f32", 8]], "groups": [1, 1, 1], "spec": [3, 5, 0.5, 1, 2, 2, 6]}
#version 450
#define BASE 10
#define ID(n) (BASE + (n))
layout(local_size_x_id = 30, local_size_y_id = ID(21)) in;
layout(constant_id = 4 + 3) const int rows = 1;
layout(constant_id = ID(0)) const uint columns = 2u;
const int first = BASE * 2;
layout(constant_id = first) const float scale = 2.0;
layout(constant_id = first + 1) const bool mirrored = false;
layout(constant_id = 40) const int untouched = 6;
const int total = rows * int(columns) + untouched;
const uint words = (uint(total) + 31u) / 32u << 2;
const vec2 both = vec2(scale, 1.5);
const int halves = mirrored ? total >> 1 : -total;
layout(binding = 0) buffer Ints { int o[]; };
layout(binding = 1) buffer Floats { float f[]; };
shared int grid[rows][columns];
struct Local { float cells[rows + 1]; };
void main() {
    uint lane = gl_LocalInvocationIndex;
    int table[total];
    for (int i = 0; i < table.length(); i++) table[i] = i * i;
    if (lane == 0u) for (int r = 0; r < rows; r++) for (int c = 0; c < int(columns); c++) grid[r][c] = r * 10 + c;
    barrier();
    if (lane != 3u) return;
    Local local;
    for (int i = 0; i <= rows; i++) local.cells[i] = float(i) * scale;
    o[0] = total; o[1] = int(words); o[2] = halves; o[3] = table[total - 1];
    o[4] = grid[rows - 1][columns - 1u]; o[5] = int(gl_WorkGroupSize.x * 10u + gl_WorkGroupSize.y);
    o[6] = local.cells.length(); o[7] = int(mirrored); o[8] = grid.length() * 10 + int(grid[0].length()); o[9] = int(lane);
    f[0] = both.x * 4.0; f[1] = both.y; f[2] = local.cells[rows];
}
