//! The example of each row in `src/builtins` compiles.

mod support;

use kps_kernel::names::{Rows, SECTIONS};
use kps_kernel::{Reach, Target};

use support::{compile, render};

#[test]
fn every_example_compiles() {
    let mut found = String::new();
    for section in SECTIONS {
        let Rows::Functions(rows) = section.rows else { continue };
        for row in rows {
            let Some(text) = section.example(row) else { continue };
            let (kernels, mistakes) = compile(row.name(), &text, &Target::portable(), Reach::Binding);
            let is_compiled = matches!(&kernels[..], [kernel] if kernel.name == "example" && !kernel.module.words.is_empty());
            if !is_compiled || !mistakes.is_empty() {
                found += &format!("{text}{}\n", render(&mistakes));
            }
        }
    }
    assert!(found.is_empty(), "{found}");
}
