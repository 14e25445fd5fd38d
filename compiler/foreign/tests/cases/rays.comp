#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 4) in;
layout(binding = 0) uniform accelerationStructureEXT scene;
void main() { rayQueryEXT q; }
