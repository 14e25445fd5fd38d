#version 450
#include
void main(){}
