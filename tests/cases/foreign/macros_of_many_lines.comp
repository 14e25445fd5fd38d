// {"tensors": [["i32", [4, 8, 15, 16, 23, 42]], ["i32", 12]], "groups": [1, 1, 1]}
#version 450
#extension GL_EXT_control_flow_attributes : enable
#define WIDTH 6
#define CONCAT(a, b) a##b
#define NAME(n) CONCAT(op_, n)
#define MAKE(name, expression) \
    int CONCAT(op_, name)(int a, int b) { \
        return (expression);              \
    }
#define FOR_ALL(i, body)                            \
    do {                                            \
        [[unroll]] for (int i = 0; i < WIDTH; ++i) { \
            body;                                   \
        }                                           \
    } while (false)
#if defined(GL_EXT_control_flow_attributes) && !defined(WITHOUT) && (WIDTH * 2 >= 12 || UNKNOWN)
    #define CHOSEN 7
#elif WIDTH == 6
    #error not this one
#else
    this is no GLSL
#endif
#ifndef CHOSEN
    #error nor this one
#endif
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer In { int a[WIDTH]; };
layout(binding = 1) writeonly buffer Out { int o[WIDTH * 2]; };
MAKE(add, a + b)
MAKE(larger, a > b ? a : b)
#undef MAKE
#ifdef MAKE
    #error it is gone
#endif
void main() {
    int sum = 0;
    FOR_ALL(i, sum = NAME(add)(sum, a[i]); o[i] = sum);
    int most = -1;
    if (sum > 100)
        FOR_ALL(j, most = NAME(larger)(most, a[j] % 10));
    else
        most = 0;
    o[6] = most;
    o[7] = CHOSEN;
    o[8] = int(__VERSION__ > 100);
    o[9] = __VERSION__;
    o[10] = /* a comment
        of two lines */ __LINE__;
    o[11] = 0x1F + 017 /* octal */ + int(1e1) + int(.5e+1f);
}
