override n: i32 = -1;
@compute @workgroup_size(n) fn main() { }
