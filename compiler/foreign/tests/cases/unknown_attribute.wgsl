@compute @workgroup(1) fn main() { }
