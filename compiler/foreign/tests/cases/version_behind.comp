layout(local_size_x = 64) in;
#version 450
void main() { }
