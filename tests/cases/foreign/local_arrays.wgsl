// {"tensors": [["f32", [5, 3, 8, 1, 9, 2, 7, 4]], ["f32", 8], ["u32", 8]], "groups": [1, 1, 1]}
struct Entry { key: f32, places: array<u32, 3> }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<u32>;
var<private> history: array<u32, 4>;
fn remember(slot: ptr<private, array<u32, 4>>, at: u32, value: u32) {
    (*slot)[at % 4u] += value;
}
fn sort(window: ptr<function, array<f32, 5>>) {
    for (var i = 1; i < 5; i++) {
        let value = (*window)[i];
        var j = i - 1;
        while j >= 0 && (*window)[j] > value {
            (*window)[j + 1] = (*window)[j];
            j--;
        }
        (*window)[j + 1] = value;
    }
}
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32) {
    var window: array<f32, 5>;
    for (var k = 0; k < 5; k++) {
        window[k] = a[clamp(i32(lane) + k - 2, 0, 7)];
    }
    sort(&window);
    b[lane] = window[2] * 100.0 + window[lane % 5u];
    var entries: array<Entry, 3>;
    for (var k = 0u; k < 6u; k++) {
        let at = (lane + k) % 3u;
        entries[at].key += f32(k);
        entries[at].places[k % 3u] = lane * 10u + k;
        remember(&history, u32(a[lane]) + k, k);
    }
    c[lane] = entries[lane % 3u].places[(lane + 1u) % 3u] * 1000u + u32(entries[0].key) * 10u + history[lane % 4u];
}
