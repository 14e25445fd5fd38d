#version 450
layout(local_size_x) in;
void main() { }
