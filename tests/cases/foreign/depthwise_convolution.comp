// {"tensors": [["f32", [-3.0, -1.0, 1.0, 3.0, 0.0, 2.0, -3.0, -1.0, 3.0, -2.0, 0.0, 2.0, -1.0, 1.0, 3.0, -2.0, 2.0, -3.0, -1.0, 1.0, 2.0, -3.0, -1.0, 1.0, -2.0, 0.0, 2.0, -3.0, 1.0, 3.0, -2.0, 0.0, -3.0, -1.0, 1.0, 3.0, 0.0, 2.0, -3.0, -1.0, 0.0, 2.0, -3.0, -1.0, 3.0, -2.0, 0.0, 2.0, -1.0, 1.0, 3.0, -2.0, 2.0, -3.0, -1.0, 1.0, -2.0, 0.0, 2.0, -3.0, -2.0, 0.0, 2.0, -3.0, 1.0, 3.0, -2.0, 0.0, -3.0, -1.0, 1.0, 3.0, 0.0, 2.0, -3.0, -1.0, 3.0, -2.0, 0.0, 2.0]], ["f32", [-1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0, -1.0, 0.0, 1.0]], ["f32", [1.0, 0.0, -1.0, 0.5]], ["f32", 24]], "groups": [2, 1, 1], "spec": [3, 3, 1], "push": [5, 4, 3, 2]}
#version 450
layout(constant_id = 0) const int kernel_w = 1;
layout(constant_id = 1) const int kernel_h = 1;
layout(constant_id = 2) const int bias_term = 0;
const int maxk = kernel_w * kernel_h;
layout(local_size_x = 2, local_size_y = 2, local_size_z = 1) in;
layout(binding = 0) readonly buffer bottom_blob { vec4 bottom_blob_data[]; };
layout(binding = 1) readonly buffer weight_blob { vec4 weight_data[]; };
layout(binding = 2) readonly buffer bias_blob { vec4 bias_data[]; };
layout(binding = 3) writeonly buffer top_blob { vec4 top_blob_data[]; };
layout(push_constant) uniform parameter { int w; int h; int outw; int outh; } p;
#define psc(x) (x##_constant == 0 ? p.x : x##_constant)
const int outw_constant = 0;
const int w_constant = 0;
void main() {
    int gx = int(gl_GlobalInvocationID.x), gy = int(gl_GlobalInvocationID.y);
    if (gx >= psc(outw) || gy >= p.outh) return;
    vec4 sum = bias_term == 1 ? bias_data[0] : vec4(0.f);
    int offsets[maxk];
    for (int k = 0; k < maxk; k++) offsets[k] = k / kernel_w * psc(w) + k % kernel_w;
    for (int k = 0; k < maxk; k++) sum += bottom_blob_data[gy * psc(w) + gx + offsets[k]] * weight_data[k];
    top_blob_data[gy * psc(outw) + gx] = max(sum, vec4(0.f));
}
