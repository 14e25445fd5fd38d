#ifndef LIGHTING_GLSL
#define LIGHTING_GLSL
#include "types.glsl"
#include "deep.glsl"
float lit(Light light) { return dot(light.colour, WEIGHTS) * light.power; }
#endif
