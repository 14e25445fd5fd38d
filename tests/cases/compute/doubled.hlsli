#ifndef DOUBLED
#define DOUBLED
float doubled(float x) { return x * 2; }
#endif
