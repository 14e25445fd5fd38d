#define JOIN(a, b) a##b
#define NAMED(n) JOIN(scaled_by_, n)
float NAMED(FACTOR)(float x) { return x * float(FACTOR); }
#undef NAMED
#undef JOIN
