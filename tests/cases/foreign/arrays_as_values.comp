// {"tensors": [["f32", 12]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) writeonly buffer Out { float o[]; };
struct Node { float value; int next; };
const Node LIST[3] = Node[](Node(1.5, 2), Node(2.5, -1), Node(4.0, 1));
const float ROWS[][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
float last(float row[3]) { return row[row.length() - 1]; }
float corner(const float rows[2][3]) { return rows[1][0]; }
float[2] pair(float x) { return float[](x, x * 2.0); }
void shift_row(inout float row[3]) {
    float first = row[0];
    row = float[](row[1], row[2], first);
}
struct Grid { float cells[2][3]; vec2 size; };
void main() {
    float sum = 0.0;
    for (int i = 0; i >= 0; i = LIST[i].next) sum = sum * 10.0 + LIST[i].value;
    o[0] = sum;
    float rows[2][3] = ROWS;
    o[1] = last(rows[1]); o[2] = corner(rows); o[3] = pair(3.5)[1]; o[4] = float(pair(0.0).length());
    shift_row(rows[1]);
    rows[0] = rows[1];
    o[5] = rows[0][0]; o[6] = rows[0][2]; o[7] = float(rows == ROWS) + 2.0 * float(rows[0] == rows[1]);
    Grid grid = Grid(rows, vec2(2, 3)), other = grid;
    int k = 1;
    other.cells[k][k + 1] = 9.0;
    other.size[k] += 1.0;
    o[8] = grid.cells[1][2]; o[9] = other.cells[1][2]; o[10] = float(grid != other); o[11] = other.size.y;
}
