#version 450
layout(localsize_x = 64) in;
void main() { }
