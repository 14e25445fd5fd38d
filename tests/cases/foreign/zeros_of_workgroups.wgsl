// {"tensors": [["u32", 12]], "groups": [3, 1, 1], "spec": [5]}
// What a workgroup shares begins with zeros, in whatever it lies, and though others left something there.
override n: u32 = 3;
struct Inner { flags: array<bool, 3>, turn: mat2x3f }
struct Outer { counts: array<atomic<u32>, 5>, inner: array<Inner, 2>, last: atomic<i32>, place: vec3f }
struct Ids { @builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32 }
@group(0) @binding(0) var<storage, read_write> found: array<u32>;
var<workgroup> nested: array<array<vec2u, 7>, 9>;
var<workgroup> outers: array<Outer, 3>;
var<workgroup> outer: Outer;
var<workgroup> sized: array<u32, n>;
var<workgroup> bins: array<array<atomic<u32>, 2>, 4>;
var<workgroup> single: f32;
var<workgroup> total: atomic<u32>;
fn count(at: u32) -> u32 {
    var n = u32(any(outers[at].place != vec3f())) + u32(atomicLoad(&outers[at].last));
    for (var i = 0; i < 5; i++) { n += atomicLoad(&outers[at].counts[i]); }
    for (var i = 0; i < 2; i++) {
        for (var k = 0; k < 3; k++) { n += u32(outers[at].inner[i].flags[k]); }
        n += u32(outers[at].inner[i].turn[1].z);
    }
    return n;
}
fn spoil(at: u32) {
    outers[at].place.y = 1.0;
    atomicStore(&outers[at].last, 4);
    for (var i = 0; i < 5; i++) { atomicStore(&outers[at].counts[i], 1u); }
    for (var i = 0; i < 2; i++) {
        for (var k = 0; k < 3; k++) { outers[at].inner[i].flags[k] = true; }
        outers[at].inner[i].turn[1].z = 3.0;
    }
}
@compute @workgroup_size(n)
fn main(ids: Ids) {
    var n_others = u32(single) + atomicLoad(&total);
    for (var i = 0u; i < 63u; i++) { n_others += nested[i / 7u][i % 7u].y; }
    for (var i = 0u; i < n; i++) { n_others += sized[i]; }
    for (var i = 0u; i < 8u; i++) { n_others += atomicLoad(&bins[i / 2u][i % 2u]); }
    let n_inside = count(0u) + count(2u) + atomicLoad(&outer.counts[4]);
    workgroupBarrier();
    if ids.lane == n - 1u {
        found[ids.group.x * 4u] = n_others;
        found[ids.group.x * 4u + 1u] = n_inside;
        spoil(0u);
        spoil(2u);
        atomicStore(&outer.counts[4], 1u);
        for (var i = 0u; i < 63u; i++) { nested[i / 7u][i % 7u].y = 1u; }
        for (var i = 0u; i < n; i++) { sized[i] = 1u; }
        for (var i = 0u; i < 8u; i++) { atomicStore(&bins[i / 2u][i % 2u], 1u); }
        single = 1.0;
        atomicStore(&total, 1u);
        found[ids.group.x * 4u + 2u] = count(0u) + count(2u) + atomicLoad(&outer.counts[4]);
        found[ids.group.x * 4u + 3u] = nested[8][6].y + sized[n - 1u] + atomicLoad(&bins[3][1]);
    }
}
