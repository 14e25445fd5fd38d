// {"tensors": [["f32", [0, 1]], ["i32", 4]]}
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> o: array<i32>;
@compute @workgroup_size(1)
fn main() {
    // A device may take a value for equal to itself, whatever it is.
    let nan = x[0] / x[0];
    let other = x[0] / (x[0] * (x[1] + 1.0));
    o[0] = select(0, 1, nan != other);
    o[1] = select(0, 1, nan == other);
    o[2] = select(0, 1, any(vec2(nan, x[1]) != vec2(other, x[1])));
    o[3] = select(0, 1, x[1] != 1.0);
}
