//! `docs/src/reference/accuracy.md`, printed from the table.

use std::fmt::Write;
use std::path::Path;

use kps_kernel::intrinsics::{Bound, INTRINSICS};

const HEAD: &str = "\
# What operators and functions promise

Every operator and function of floats in kernels, with how far its result may be from the true one.
This page is printed from `compiler/kernel/src/intrinsics`, and the conformance tests hold the devices to it.

- A ULP is a unit in the last place of the true result, in the type at hand. *Rounded right* means the nearest number there is.
- **Vulkan** is what any Vulkan device keeps, in its domain: finite arguments with a finite result, unless it says otherwise. A bound of *Vulkan's table* is stated by the Vulkan specification; one of *our formula* is what the steps of the formula add up to by that table. *As* a formula means the same: the bound is what its steps add up to, so it is wide where they cancel.
- **Built-in** is what the built-in device keeps, everywhere, infinities and NaN included.
- **f64** is what functions of f64 keep on every device that rounds `+ - * /` and the square root of f64 right: they are functions of our own. Where the column is empty, f64 has the bounds of the columns before it.
- A function of f16 or bf16 is computed in f32 and rounded once: it has f32's bound and half a unit of its own. Operators count units of their own type. A bf16 is an f32 that is rounded after each operation.
- `pow(x, y)` is `x ** y`, `fabs` is `abs`, `rsqrt` is `inversesqrt`, `round_even` is `round` (ties to even) and `smoothstep` is `smooth_step`; `x += y` and its kin are `x + y`.
- `x ** n` of f32 or f64 with a whole `n` that is written out, from -16 to 16, is multiplied out: each product, and the quotient of a negative `n`, is rounded right, so it is off by less than `abs(n)` ULP, and `x ** -n` is 0 where `x ** n` is beyond the type.
- Any NaN is as good as any other. A Vulkan device may flush subnormal numbers, arguments and results, to zero.
- All this is promised for kernels with `precise=True`; otherwise a multiply and an add may be fused, which only makes them more exact.
- `x // 0` and `x % 0` are 0; ints are exact in every operation.
- `popcount(x)`, `clz(x)`, `ctz(x)` and `reverse_bits(x)` take ints of every width and vectors of them, and their bits as they lie in the type: of 0, `clz` and `ctz` are the type's width. The first three give an i32, or as many; `x.bit_count()` and `x.bit_length()` are of the number's size, as Python's.
- Casts are exact: ints wrap, floats are rounded to the nearest number, a float becomes an int towards zero and stops at the ends of the type, NaN is 0.
- Functions of `math` that Python ends with an error at a pole or outside their domain give what C gives there: `math.gamma(0.0)` and `math.lgamma(-1.0)` are inf, `math.gamma(-1.0)` and `math.remainder(x, 0.0)` NaN.
- `math.frexp`, `math.ldexp`, `math.nextafter` and `math.ulp` are exact, in the type at hand. `round(x, n)` rounds as Python does where 10 ** abs(n) is a number of the type, up to 10 digits for f32 and 22 for f64; `round` and `pow(x, y, m)` of ints are exact, the latter for y that is not negative: below 0 it gives 0. `sum` adds from the first to the last; `math.fsum` is the true sum, rounded once (of f16 and bf16 to f32 first), and inf or -inf beyond the type's range, an f32 of ints. `math.prod` and `math.sumprod` go from the first to the last, each step rounded right; `math.dist` is `length` of the difference, `math.isclose` three comparisons of rounded steps, and `math.modf` exact.
- `math.gcd`, `lcm`, `isqrt`, `factorial`, `perm` and `comb` of ints are exact where the result fits the type, and wrap beyond it.
- Matrices: `+`, `-` and a product with a number are rounded right in each element, and so is each product and each sum of `@`, from the first column to the last: infinities, NaN and zeros come out as those steps make them. So an element of `@` of n products is off by n ULP of the sum of their sizes at most; `determinant` by 4 n ULP of the sum of the sizes of its products, and `inverse` by what that costs its cofactors and their quotients.
- Vulkan's table is in the specification's appendix \"Vulkan Environment for SPIR-V\", section \"Precision and Operation of SPIR-V Instructions\", \"Precision of Individual Operations\": \"Precision of core SPIR-V Instructions\" has the operators, `dot` and conversions, \"Precision of GLSL.std.450 Instructions\" the functions. Its looser column for half precision matters here for `x / y` alone. What it calls *correctly rounded* may be either neighbour of the true result unless a module asks for the nearest, as precise kernels do for f32 where the device can; every device that we know gives the nearest for the other types, too. A product of cooperative matrices has no bound there.

| Call | Vulkan's domain | Vulkan | By | Built-in | f64 |
|---|---|---|---|---|---|
";

pub fn is_true() -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("no root")?
        .join("docs/src/reference/accuracy.md");
    kps_goldens::compare(&path, &page()).map_err(|_| {
        "docs/src/reference/accuracy.md is not what the table says: UPDATE=1 writes it".to_owned()
    })
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for intrinsic in INTRINSICS {
        let double = intrinsic.double.as_ref().map(Bound::to_string).unwrap_or_default();
        let (domain, vulkan, builtin) = (intrinsic.domain, &intrinsic.vulkan, &intrinsic.builtin);
        let (call, source) = (intrinsic.call, intrinsic.source.name());
        writeln!(page, "| `{call}` | {domain} | {vulkan} | {source} | {builtin} | {double} |")
            .expect("a string takes all");
    }
    page
}
