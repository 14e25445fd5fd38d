// {"tensors": [["f64", 16]]}
#version 450
#define SCALE 0.1lf
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer O { double o[]; };
const double k = 0.1lf, l = -2.5LF;
const dvec2 pair = dvec2(0.1lf, .25lf);
const double table[2] = double[](1e-3lf, 0.75lf);
double changed = 1.lf;
void main() {
    const double own = 3.5lf;
    o[0] = k; o[1] = k * l; o[2] = sqrt(0.01lf); o[3] = pair.x + pair.y; o[4] = table[0] * table[1];
    changed += 0.1lf; o[5] = changed; o[6] = own * own; o[7] = SCALE; o[8] = -SCALE * 3.0lf;
    // Digits that no float has.
    o[9] = (k - double(0.1f)) * 1e9lf; o[10] = 1.0000000000000002lf - 1.0lf;
    o[11] = double(float(0.1lf)) - 0.1lf > 1e-10lf ? 1.0lf : 0.0lf;
    dmat2 m = dmat2(k, 2.0lf, 0.0lf, 0.5lf); o[12] = m[0].x + m[1].y; o[13] = max(0.1lf, 0.2lf); o[14] = abs(-0.3lf);
    o[15] = mix(0.1lf, 0.3lf, 0.5lf);
}
