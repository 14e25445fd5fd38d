// {"tensors": [["i32", [3, 1, 4, 1, 5, 9, 2, 6]], ["i32", 8]]}
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> sums: array<i32>;
var<workgroup> scan: array<i32, 8>;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32) {
    scan[lane] = a[lane];
    for (var step = 1u; step < 8u; step <<= 1u) {
        workgroupBarrier();
        var before = 0;
        if lane >= step { before = scan[lane - step]; }
        workgroupBarrier();
        scan[lane] += before;
    }
    sums[lane] = scan[lane];
}
