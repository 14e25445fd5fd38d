// {"tensors": [["u32", 6], ["u32", 6]], "groups": [3, 2, 1]}
#version 450
layout(local_size_x = 1, local_size_y = 1) in;
layout(binding = 0) buffer Rows { uint rows[]; };
layout(binding = 1) buffer Columns { uint columns[]; };
void main() {
    uint i = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    rows[i] = gl_WorkGroupID.y;
    columns[i] = gl_WorkGroupID.x;
}
