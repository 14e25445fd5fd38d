// {"tensors": [["i32", [0, 1, 2, 3, 4, 5, 6, 7]], ["i32", 8]], "groups": [1, 1, 1]}
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> b: array<i32>;
const table = array<i32, 4>(2, 3, 5, 7);
fn choose(x: i32) -> i32 {
    switch x {
        case 0, 3: { return 10; }
        default: {
            if x > 5 { break; }
            return table[x % 4];
        }
        case 4: { return 40; }
    }
    return -1;
}
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) lane: u32) {
    var x = a[lane];
    var total = 0;
    loop {
        if x == 3 { x += 2; continue; }
        total += choose(x);
        continuing {
            x += 1;
            total += 100;
            break if x > 6;
        }
    }
    for (var i = 0; i < 4; i++) {
        for (var j = 0; j < 4; j++) {
            if i * j > i32(lane) { break; }
            if j == 2 { continue; }
            total += i * 1000;
        }
    }
    b[lane] = total;
}
