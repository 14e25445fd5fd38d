// {"tensors": [["u32", 8], ["f32", 8]], "groups": [2, 1, 1]}
struct Walker { state: u32, place: vec2f, seen: array<u32, 3> }
@group(0) @binding(0) var<storage, read_write> sorted: array<u32>;
@group(0) @binding(1) var<storage, read_write> walked: array<f32>;

fn swap(a: ptr<function, u32>, b: ptr<function, u32>) {
    let kept = *a;
    *a = *b;
    *b = kept;
}

fn next(state: ptr<function, u32>) -> u32 {
    *state = *state * 5u + 3u;
    return *state % 7u;
}

fn step(place: ptr<function, vec2f>, seen: ptr<function, array<u32, 3>>, by: u32) {
    *place += vec2f(f32(by), 1.0);
    (*seen)[by % 3u] += 1u;
}

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
    var numbers = array<u32, 4>(3u, 1u + id.x, 7u, 2u);
    for (var i = 0u; i < 3u; i++) {
        for (var j = i + 1u; j < 4u; j++) {
            if numbers[j] < numbers[i] { swap(&numbers[i], &numbers[j]); }
        }
    }
    sorted[id.x] = numbers[lane];
    var walkers = array<Walker, 2>();
    for (var i = 0u; i < 5u; i++) {
        let by = next(&walkers[i % 2u].state);
        step(&walkers[lane % 2u].place, &walkers[lane % 2u].seen, by);
    }
    walked[id.x] = walkers[lane % 2u].place.x + walkers[lane % 2u].place.y * 100.0 + f32(walkers[lane % 2u].seen[0]) * 10000.0;
}
