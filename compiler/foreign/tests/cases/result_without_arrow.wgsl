fn f(a: i32) i32 { return a; }
@compute @workgroup_size(1) fn main() { let y = f(1); }
