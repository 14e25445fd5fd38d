#version 450
#define TEN(f) f + f + f + f + f + f + f + f + f + f
#define HUNDRED(f) TEN(f) + TEN(f) + TEN(f) + TEN(f) + TEN(f) + TEN(f) + TEN(f) + TEN(f) + TEN(f) + TEN(f)
#define THOUSANDS(f) HUNDRED(HUNDRED(TEN(f)))
layout(local_size_x = 1) in;
layout(binding = 0) buffer X { float x[]; };
void main() {
    x[0] = THOUSANDS(x[1]);
}
