//! Prints `docs/src/reference/accuracy.md` from the table.

use std::fmt::Write;
use std::path::Path;

use kps_kernel::intrinsics::{Bound, intrinsics};

const HEAD: &str = "\
# Accuracy

You want to know how far the result of an operator or a function may be from the true one.
A test prints this page from `compiler/kernel/src/intrinsics` and the rows in `compiler/kernel/src/builtins`.
The conformance tests compare every device with it.

## How to read the table

| Column | Meaning |
|---|---|
| Vulkan's domain | where the bound of the next column holds |
| Vulkan | the bound on any Vulkan device, for finite arguments with a finite result |
| By | *Vulkan*: the specification states the bound; *formula*: it follows from the steps of the formula |
| Built-in | the bound on the CPU device, everywhere, with infinities and NaN |
| f64 | the bound for `f64` on every device, where the function is a library function; else the other columns hold |

- A ULP is a unit in the last place of the true result, in its type.
- *Correctly rounded* means the nearest number that the type has.
- *As* a formula means that the errors of its steps add up. The bound is wide where the steps cancel.
- The bounds hold for kernels with `precise=True`. Otherwise a multiply and an add may be fused, which is only more exact.
- A Vulkan device may flush subnormal numbers to zero. Any NaN equals any other.
- Library functions of `f64` need a device that rounds `+ - * /` and the square root of `f64` correctly.

## Types

- A function of `f16` or `bf16` is computed in `f32` and rounded once. It has the bound of `f32`, and half a unit of its own.
- An operator counts units of its own type. A `bf16` is an `f32` that is rounded after each operation.
- Ints are exact in every operation, and wrap. `x // 0` and `x % 0` are 0.

| Conversion | Result |
|---|---|
| int to int | wraps |
| to a float | rounds to the nearest number |
| float to int | rounds toward zero and saturates; NaN gives 0 |

## Names

`pow(x, y)` is `x ** y`, `fabs` is `abs`, `rsqrt` is `inversesqrt`, `round_even` is `round`, and `smoothstep` is `smooth_step`.
`x += y` is `x + y`, and so on.

## Powers with a constant exponent

`x ** n` of `f32` or `f64` with a literal int `n` from -16 to 16 is multiplied out.
Each product is correctly rounded, and so is the quotient of a negative `n`.
So the result is off by less than `abs(n)` ULP.
`x ** -n` is 0 where `x ** n` is beyond the type.

## Functions of Python's math

| Functions | Promise |
|---|---|
| `math.gamma(0.0)`, `math.lgamma(-1.0)` | inf, where Python raises an error |
| `math.gamma(-1.0)`, `math.remainder(x, 0.0)` | NaN, where Python raises an error |
| `math.frexp`, `math.ldexp`, `math.nextafter`, `math.ulp`, `math.modf` | exact |
| `round(x, n)` | as Python's, for up to 10 digits of `f32` and 22 of `f64` |
| `round` and `pow(x, y, m)` of ints | exact; `pow` gives 0 for a negative `y` |
| `sum`, `math.prod`, `math.sumprod` | from the first to the last, each step correctly rounded |
| `math.fsum` | the true sum, rounded once; of `f16` and `bf16` to `f32` first; inf or -inf beyond the range |
| `math.dist` | `length` of the difference |
| `math.isclose` | three comparisons of rounded steps |
| `math.gcd`, `lcm`, `isqrt`, `factorial`, `perm`, `comb` | exact where the result fits, and wrap beyond |
| `popcount(x)`, `clz(x)`, `ctz(x)`, `reverse_bits(x)` | of the bits in the type; `clz` and `ctz` of 0 are its width |
| `x.bit_count()`, `x.bit_length()` | of the size of the number, as Python's |

## Matrices

- `+`, `-` and a product with a number are correctly rounded in each element.
- `@` adds the products from the first column to the last, each step correctly rounded.
- An element of `@` of n products is off by at most n ULP of the sum of their sizes.
- `determinant` is off by at most 4 n ULP of the sum of the sizes of its products.
- `inverse` is off by what that costs its cofactors and their quotients.
- A product of cooperative matrices has no bound in Vulkan.

## The source of Vulkan's bounds

The specification's appendix \"Vulkan Environment for SPIR-V\" has them, in \"Precision of Individual Operations\".
Its looser column for half precision matters here for `x / y` alone.
What it calls *correctly rounded* may be either neighbour of the true result, unless a module asks for the nearest one.
Precise kernels ask for it for `f32` where the device can.
Every known device gives the nearest one for the other types, too.

## Operators and functions

| Call | Vulkan's domain | Vulkan | By | Built-in | f64 |
|---|---|---|---|---|---|
";

pub fn is_true() -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("no root")?
        .join("docs/src/reference/accuracy.md");
    kps_snapshots::compare(&path, &page()).map_err(|_| {
        "docs/src/reference/accuracy.md is not what the table says: UPDATE=1 writes it".to_owned()
    })
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for intrinsic in intrinsics() {
        let double = intrinsic.double.as_ref().map(Bound::to_string).unwrap_or_default();
        let (domain, vulkan, builtin) = (intrinsic.domain, &intrinsic.vulkan, &intrinsic.builtin);
        let (call, source) = (intrinsic.call, intrinsic.source.name());
        writeln!(page, "| `{call}` | {domain} | {vulkan} | {source} | {builtin} | {double} |")
            .expect("a string takes all");
    }
    page
}
