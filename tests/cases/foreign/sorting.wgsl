// {"tensors": [["f32", [3, 1, 2, 9, 8, 7, 0.5, 5, -1, 4, 4, 4]]], "groups": [3, 1, 1]}
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var row: array<f32, 4>;
    for (var i = 0u; i < 4u; i++) { row[i] = a[id.x * 4u + i]; }
    for (var i = 1; i < 4; i++) {
        let value = row[i];
        var j = i;
        while j > 0 && row[j - 1] > value {
            row[j] = row[j - 1];
            j--;
        }
        row[j] = value;
    }
    for (var i = 0u; i < 4u; i++) { a[id.x * 4u + i] = row[i]; }
}
