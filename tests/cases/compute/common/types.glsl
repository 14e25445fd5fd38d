#ifndef TYPES_GLSL
#define TYPES_GLSL
struct Light { vec3 colour; float power; };
#define SCALED(n) scaled_by_##n
#endif
