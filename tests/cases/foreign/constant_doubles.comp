// {"tensors": [["f64", 12], ["f32", 8]]}
#version 450
#define TAU (2.0lf * 3.25lf)
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { double o[]; };
layout(set = 0, binding = 1) buffer P { float p[]; };
// What is known before the shader runs is computed as GLSL does: 7 / 2 is 3, and 0.1f has the digits of a float.
const double k = double(0.5), third = 1.0lf / 3.0lf, l = -k * (7 / 2);
const double of_float = double(0.1f) - 0.1lf, of_macro = TAU + k;
const dvec2 pair = dvec2(k * 3.0, 2);
const double table[3] = double[](k + 1.0, -third * 3.0, double(7u));
const float g = float(k) * 3, h = float(TAU);
const vec2 both = vec2(float(k), 4.0);
const int n = int(k * 9.0lf);
float row[n];
void main() {
    const double own = double(0.25) * 5.0;
    o[0] = k; o[1] = third * 3.0lf; o[2] = l; o[3] = of_float * 1e9lf; o[4] = of_macro; o[5] = pair.x + pair.y;
    o[6] = table[0] * table[1] * table[2]; o[7] = own; o[8] = double(n); o[9] = double(row.length());
    p[0] = float(k); p[1] = g; p[2] = h; p[3] = both.x; p[4] = float(own); p[5] = int(k * 4.0); p[6] = float(bool(k));
}
