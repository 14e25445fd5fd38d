// {"tensors": [["f32", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]], ["f32", [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1]], ["f32", 16]], "groups": [2, 2, 1]}
const TILE = 2u;
const SIZE = 4u;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
var<workgroup> tile_a: array<array<f32, TILE>, TILE>;
var<workgroup> tile_b: array<array<f32, TILE>, TILE>;
@compute @workgroup_size(TILE, TILE)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) at: vec3u) {
    var sum = 0.0;
    for (var tile = 0u; tile < SIZE / TILE; tile++) {
        tile_a[at.y][at.x] = a[id.y * SIZE + tile * TILE + at.x];
        tile_b[at.y][at.x] = b[(tile * TILE + at.y) * SIZE + id.x];
        workgroupBarrier();
        for (var k = 0u; k < TILE; k++) { sum += tile_a[at.y][k] * tile_b[k][at.x]; }
        workgroupBarrier();
    }
    c[id.y * SIZE + id.x] = sum;
}
