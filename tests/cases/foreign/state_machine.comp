// {"tensors": [["u32", [51, 43, 52, 42, 50, 45, 49, 0, 40, 0]], ["i32", 6]]}
#version 450
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Text { uint text[]; };
layout(binding = 1) writeonly buffer Out { int o[]; };
const uint KINDS[3][2] = { { 48u, 57u }, { 42u, 42u }, { 43u, 45u } };
int kind_of(uint letter) {
    int found = -1;
    for (int k = 0; k < 3; ++k) {
        if (letter < KINDS[k][0] || letter > KINDS[k][1]) continue;
        found = k;
        break;
    }
    return found;
}
void main() {
    int at = 0, stack[8], depth = 0, cascade = 0;
    uint pending = 43u;
    do {
        uint letter = text[at++];
        switch (kind_of(letter)) {
            case 0:
                int digit = int(letter) - 48;
                switch (pending) {
                    case 45u: digit = -digit;
                    case 43u: stack[depth++] = digit; break;
                    case 42u: stack[depth - 1] *= digit;
                }
                break;
            case 1:
            case 2:
                pending = letter;
                cascade += 1;
            default:
                cascade += 10;
                if (letter == 0u) break;
                cascade += 100;
        }
        if (letter == 0u) break;
    } while (at < 100);
    int sum = 0;
    while (depth > 0) sum += stack[--depth];
    o[0] = sum; o[1] = at; o[2] = cascade;
    int k = 0;
    for (;; k++) { if (k * k > 50) break; }
    o[3] = k;
    switch (k) { default: o[4] = 1; break; case 9: o[4] = 2; case 10: o[5] = 3; }
}
