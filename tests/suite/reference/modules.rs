//! The page on the modules that scripts import without a file.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::members;
use crate::program::Program;
use crate::{Failure, files};

const HEAD: &str = "\
# Modules of scripts

You want to know which modules a script can import, and what they have.
A test prints this page from the modules.
`UPDATE=1` writes it.

What a module has does what CPython 3.11 or NumPy 2 does.
[The module kp](kp.md) has a page of its own, and so have [`gpu`](../compatibility/cuda-python.md) and
[`gpuarray`](../compatibility/pygpu.md).
A script also imports its own files: `import helpers` finds `helpers.kps` beside the script.
";

/// The packages under whose names scripts import `gpuarray`.
const ALIASES: [&str; 2] = ["PyGPU", "PybindGPU"];

/// Types of kernels, which every module about them has.
const KERNEL_TYPES: &str = "kp";

/// Functions of kernels.
const FUNCTIONS: &str = "pyshader.stdlib";

pub fn page(program: &Program) -> Result<String, Failure> {
    let functions = members(program, FUNCTIONS, FUNCTIONS)?;
    let mut kernel_types = members(program, KERNEL_TYPES, KERNEL_TYPES)?;
    // Functions of arrays have the names of functions of kernels, and another meaning.
    kernel_types.retain(|name| !functions.contains(name));
    let mut page = HEAD.to_owned();
    for module in modules() {
        let names = members(program, &module, &module)?;
        write!(page, "\n## `{module}`\n\n").expect("a string takes all");
        let is_of_kernels = module.starts_with("pyshader");
        let shown: Vec<String> = names
            .iter()
            .filter(|name| !is_of_kernels || !kernel_types.contains(*name))
            .map(|name| format!("`{name}`"))
            .collect();
        writeln!(page, "{}", shown.join(" ")).expect("a string takes all");
        if module == "numpy" {
            let methods = members(program, "numpy", "numpy.ndarray")?;
            let methods: Vec<String> = methods.iter().map(|name| format!("`{name}`")).collect();
            write!(page, "\nAn `ndarray` has:\n\n{}\n", methods.join(" ")).expect("a string takes all");
        }
        if is_of_kernels && names.iter().any(|name| kernel_types.contains(name)) {
            writeln!(page, "\nIt also has the types and decorators of [kp](kp.md).")
                .expect("a string takes all");
        }
    }
    Ok(page)
}

/// The modules in Rust and in kps, but for `kp`, those that begin with an underscore, and those that are another
/// module by another name.
fn modules() -> BTreeSet<String> {
    let mut names: BTreeSet<String> = kps_stdlib::names().map(str::to_owned).collect();
    for file in files("runtime/host/src/modules", &["rs"]) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let named = text.split("NativeModule::new(\"").skip(1);
        names.extend(named.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    }
    let is_alias = |name: &str| ALIASES.iter().any(|alias| name.split('.').next() == Some(alias));
    names
        .retain(|name| name != "kp" && !name.starts_with("kp.") && !name.starts_with('_') && !is_alias(name));
    names
}
