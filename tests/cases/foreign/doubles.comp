// {"tensors": [["f64", [0.1, 2.5, -3]], ["f64", 12]], "groups": [3, 1, 1]}
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer A { double a[]; };
layout(set = 0, binding = 1) writeonly buffer B { double b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    double x = a[i];
    dvec3 v = dvec3(x, x * double(2.0), double(1.0));
    b[i * 4u] = sqrt(abs(x));
    b[i * 4u + 1u] = dot(v, v.zyx);
    b[i * 4u + 2u] = floor(x) + double(int(x));
    b[i * 4u + 3u] = double(float(x));
}
