#version 450
#extension GL_GOOGLE_include_directive : require
#include "common/types.glsl"
#include "common/lighting.glsl"
#define FACTOR 3
#include "scale.glsl"
#undef FACTOR
#define FACTOR 10
#include "scale.glsl"
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Lights { Light lights[]; };
layout(binding = 1) writeonly buffer Out { float o[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    o[i] = SCALED(3)(lit(lights[i])) + SCALED(10)(1.0);
}
