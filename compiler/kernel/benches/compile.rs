//! Kernel text to SPIR-V words in one process: parse, check, specialize. Medians in microseconds.
//!
//! The time for a statement should not depend on the number of statements, nor that for a loop on how deep it is.
//!
//! `cargo bench --package kps-kernel --bench compile`

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use kps_kernel::{Reach, Target};

const N_ROUNDS: usize = 201;
const N_ROUNDS_OF_LARGE: usize = 11;

fn main() {
    let multiply = include_str!("../tests/cases/ok/multiply_in_both_forms.kps");
    let multiply = &multiply[..multiply.find("\n\n\n").expect("two kernels")];
    time("multiply", multiply, N_ROUNDS);
    time("long", &long_kernel(), N_ROUNDS);
    for n in [500, 1000, 2000, 4000] {
        time(&format!("statements{n}"), &kernel_of_statements(n), N_ROUNDS_OF_LARGE);
    }
    for depth in 2..=8 {
        time(&format!("nest{depth}"), &nest_of_loops(depth), N_ROUNDS_OF_LARGE);
    }
}

/// Assignments, branches and loops with a sum whose type only the loop tells.
fn kernel_of_statements(n: usize) -> String {
    let block = "    s = 0
    t = a[i] * 0.5 + 1
    if t > 2:
        t = t - b[i]
    else:
        t += 1
    for j in range(4):
        s += a[j] * t
    b[i] = s + t
    a[i] = b[i] * 2
";
    let mut text =
        format!("@kernel\ndef statements{n}(a: Array[f32], b: Array[f32]):\n    i = global_id.x\n");
    (0..n / 10).for_each(|_| text += block);
    text
}

/// Loops in loops, each with a sum whose type the innermost loop tells.
fn nest_of_loops(depth: usize) -> String {
    let mut text =
        format!("@kernel\ndef nest{depth}(a: Array[f32], n: i32):\n    i = global_id.x\n    s0 = 0\n");
    for level in 1..=depth {
        let indent = "    ".repeat(level);
        text += &format!("{indent}for j{level} in range(n):\n{indent}    s{level} = 0\n");
    }
    text += &format!("{}s{depth} += a[i]\n", "    ".repeat(depth + 1));
    for level in (1..=depth).rev() {
        text += &format!("{}s{} += s{level}\n", "    ".repeat(level + 1), level - 1);
    }
    text += "    a[i] = s0\n";
    text
}

/// 226 lines: loops, branches, vectors, lists and calls, over and over.
fn long_kernel() -> String {
    let block = "    s = 0
    for j in range(n):
        if a[j] > 1.5 and j % 3 != 0:
            s += a[j] * b[j + 1] - 0.5
        elif a[j] < 0:
            break
        else:
            s = s * 0.5 + sqrt(abs(a[j]))
    v = vec3(a[i], b[i], s)
    v.xy = v.yx * 2 + 1
    w = [1.0, 2.0, v.x, v.y]
    for x in w:
        s += x ** 3
    a[i] = s + v @ v + w[i % 4]
    b[i] += a[i] // 2 if s > 3 else helper(s, 2)
";
    let mut text = "def helper(x, y):\n    return x * y + 1\n\n@kernel\n".to_owned();
    text += "def long(a: Array[f32], b: Array[f32], n: i32):\n    i = global_id.x\n";
    while text.lines().count() + block.lines().count() <= 226 {
        text += block;
    }
    while text.lines().count() < 226 {
        text += "    a[i] = a[i] * 0.5\n";
    }
    text
}

fn time(name: &str, text: &str, n_rounds: usize) {
    let mut times = Vec::new();
    let mut n_words = 0;
    for _ in 0..n_rounds {
        let start = Instant::now();
        let (kernels, mistakes) = support::compile(name, text, &Target::portable(), Reach::Binding);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        assert!(mistakes.is_empty(), "{}", support::render(&mistakes));
        assert!(kernels.iter().all(|kernel| kernel.name.contains(name)), "{name} is compiled");
        n_words = kernels.iter().map(|kernel| kernel.module.words.len()).sum();
    }
    times.sort_by(f64::total_cmp);
    let lines = text.lines().count();
    println!(
        "{name:14} {lines:4} lines {n_words:6} words  min {:8.1}  median {:8.1}",
        times[0],
        times[n_rounds / 2]
    );
}
