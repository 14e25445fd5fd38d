#version 450
#extension GL_KHR_cooperative_matrix : require
layout(local_size_x = 4) in;
void main() { coopmat<float, gl_ScopeSubgroup, 8, 8, gl_MatrixUseA> m; }
