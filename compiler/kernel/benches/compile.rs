//! Kernel text to SPIR-V words in one process: parse, check, specialize. Medians in microseconds.
//!
//! `cargo bench --package kps-kernel --bench compile`

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use kps_kernel::{Reach, Target};

const N_ROUNDS: usize = 201;

fn main() {
    let multiply = include_str!("../tests/cases/ok/multiply_in_both_forms.kps");
    let multiply = &multiply[..multiply.find("\n\n\n").expect("two kernels")];
    time("multiply", multiply);
    time("long", &long_kernel());
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

fn time(name: &str, text: &str) {
    let mut times = Vec::new();
    let mut n_words = 0;
    for _ in 0..N_ROUNDS {
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
        "{name:10} {lines:4} lines {n_words:6} words  min {:8.1}  median {:8.1}",
        times[0],
        times[N_ROUNDS / 2]
    );
}
