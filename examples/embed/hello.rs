//! A Rust program with scripts in it: scripts call a Rust function, values go in and out, and a kernel's
//! tensor comes back as a `Vec<f32>`.
//!
//! `cargo run --package kps --example hello`

use kps::{Host, Program};

const SCRIPT: &str = r#"
from kp import Tensor

@kernel
def scale(factor: f32, x: Array[f32]):
    x[global_id.x] *= factor

def scaled(values, factor):
    x = Tensor(values)
    scale(factor, x)
    return x

print(greeting, "the host gives", celsius(451.0))
result = scaled([1, 2, 3], 10.0)
"#;

fn main() -> Result<(), kps::Diagnostics> {
    let mut host = Host::builder().device("cpu").build();
    host.register("celsius", |fahrenheit: f64| (fahrenheit - 32.0) / 1.8);
    host.set("greeting", "hello:");

    host.run(&Program::parse("hello.kps", SCRIPT)?)?;
    let result: Vec<f32> = host.get("result")?;
    println!("the script gives {result:?}");

    let again: Vec<f32> = host.call("scaled", (result, 0.5))?;
    println!("and again {again:?}");
    Ok(())
}
