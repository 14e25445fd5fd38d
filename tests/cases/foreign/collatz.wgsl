// {"tensors": [["u32", [1, 2, 3, 6, 7, 9, 27, 97]]], "groups": [8, 1, 1]}
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
fn steps(first: u32) -> u32 {
    var n = first;
    var count = 0u;
    while n != 1u {
        if n % 2u == 0u { n /= 2u; } else { n = 3u * n + 1u; }
        count++;
    }
    return count;
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    numbers[id.x] = steps(numbers[id.x]);
}
