// {"tensors": [["f32", [0, 0.5, 1, -1]], ["u32", 3], ["f32", 8]]}
@group(0) @binding(0) var<storage, read> a: vec4f;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
@compute @workgroup_size(1)
fn main() {
    b[0] = pack4x8unorm(a);
    b[1] = pack4x8snorm(a);
    b[2] = bitcast<u32>(a.y);
    c[0] = unpack4x8unorm(b[0]);
    c[1] = vec4f(unpack2x16float(pack2x16float(a.yz)), bitcast<f32>(b[2]), 0.0);
}
