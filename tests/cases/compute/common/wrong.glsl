// Two lines above

void f() { int x = undeclared; }
