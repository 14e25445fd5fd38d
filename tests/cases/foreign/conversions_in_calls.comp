// {"tensors": [["f32", 8], ["u32", 4], ["f64", 4], ["i32", 8]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) writeonly buffer Floats { float f[]; };
layout(binding = 1) writeonly buffer Words { uint u[]; };
layout(binding = 2) writeonly buffer Doubles { double d[]; };
layout(binding = 3) writeonly buffer Which { int which[]; };
float scaled(float x, vec2 by) { return x * by.x + by.y; }
uint wrapped(uint x) { return x + 1; }
double widened(double x) { return x * 2.0LF; }
vec3 lifted(vec3 v) { return v + 1; }
int kind(int x) { return 1; }
int kind(uint x) { return 2; }
int kind(float x) { return 3; }
int kind(vec2 x) { return 4; }
int kind(ivec2 x) { return 5; }
int kind(float x[2]) { return 6; }
int kind(mat2 x) { return 7; }
void main() {
    int i = -3;
    uint w = 4294967295u;
    f[0] = scaled(i, ivec2(2, 1));
    f[1] = scaled(7u, uvec2(3u, 4u));
    f[2] = lifted(ivec3(i, 2, 3)).x;
    f[3] = i;
    f[4] = w > 5 ? i : 0.5;
    f[5] = i + 0.25 + 2u;
    f[6] = max(i, 1.5);
    f[7] = mix(0, 10, 0.25);
    u[0] = wrapped(i);
    u[1] = wrapped(w);
    u[2] = i + w;
    u[3] = i;
    d[0] = widened(i);
    d[1] = widened(0.5f);
    d[2] = i / 2u * 1.0LF;
    d[3] = dvec2(vec2(1.5, 2)).x + uvec2(3).y;
    which[0] = kind(1); which[1] = kind(1u); which[2] = kind(1.0); which[3] = kind(uvec2(1));
    which[4] = kind(ivec2(1)); which[5] = kind(float[](1, 2)); which[6] = kind(mat2(1)); which[7] = kind(1 == 1 ? 2 : 3u);
}
