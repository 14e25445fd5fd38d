// {"tensors": [["f32", [1, 2, 3, 4]], ["f32", 12]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer A { vec4 a; };
layout(binding = 1) buffer B { vec4 b[]; };
void main() {
    vec4 v = a.wzyx;
    v.xy = v.yx;
    v.z += 10.0;
    b[0] = v;
    b[1] = vec4(a.xx, a.rg);
    vec3 w = vec3(a.y);
    w[2] = a[3];
    b[2] = vec4(w, w.x);
}
