#version 450
#define OPEN ((((((((((((((((((((((((((((((((((((((((
#define CLOSE ))))))))))))))))))))))))))))))))))))))))
layout(local_size_x = 1) in;
layout(binding = 0) buffer X { float x[]; };
void main() {
    x[0] = OPEN OPEN OPEN OPEN 1.0 CLOSE CLOSE CLOSE CLOSE;
}
