// {"tensors": [["u32", [67305985, 4278255360, 2155905152]], ["i32", 54]], "groups": [3, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<vec2i>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let x = a[id.x];
    let at = id.x * 9u;
    let signed = unpack4xI8(x);
    let unsigned = unpack4xU8(x);
    b[at] = signed.xy + signed.zw * 1000;
    b[at + 1u] = vec2i(unsigned.xy + unsigned.zw * 1000u);
    b[at + 2u] = vec2i(dot4I8Packed(x, 16909060u), i32(dot4U8Packed(x, 16909060u)));
    b[at + 3u] = vec2i(i32(pack4xI8(signed * 3)), i32(pack4xU8(unsigned * 3u)));
    b[at + 4u] = vec2i(i32(pack4xI8Clamp(signed * 3)), i32(pack4xU8Clamp(unsigned * 3u)));
    let halves = unpack2x16snorm(x);
    b[at + 5u] = vec2i(i32(pack2x16snorm(halves)), i32(pack2x16unorm(unpack2x16unorm(x))));
    b[at + 6u] = vec2i(unpack4x8snorm(x).xw * 1000.0);
    b[at + 7u] = vec2i(bitcast<vec2f>(vec2u(x, 1065353216u)).yy);
    b[at + 8u] = vec2i(dot(signed, vec4i(1, 2, 3, 4)), i32(dot(unsigned, vec4u(1u))));
}
