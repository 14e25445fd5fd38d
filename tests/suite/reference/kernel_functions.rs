//! The page of kernel functions, printed from the compiler's rows. Each example runs on the built-in device.

use kps_kernel::names::{Gives, Known, Row, Rows, SECTIONS, Section};

use crate::Failure;
use crate::program::Program;

const HEAD: &str = "\
# Kernel functions and types

You want to look up a name that every kernel knows without an import.
A test prints this page from the rows in `compiler/kernel/src/builtins`, and runs each example.
[Accuracy](accuracy.md) has the error bound of each function of floats.
`help(\"clamp\")` prints the row of `clamp`, in a script and at the prompt.

Functions take numbers, and vectors component by component, unless the table says otherwise.
The functions of `math` are known without `math.`, except for those of the table [Only in `math`](#only-in-math).
";

/// What the examples of images need.
const PRELUDE: &str = "\
import numpy as np
import kp


def image():
    return kp.Image(np.array([[1, 2], [3, 4]], dtype=np.float32))


";

/// A line between the outputs of two examples.
const END: &str = "end of the example";

pub fn page(program: &Program) -> Result<String, Failure> {
    let mut values = values(program)?.into_iter();
    let mut page = HEAD.to_owned();
    for section in SECTIONS {
        let Section { title, about, rows, .. } = section;
        page += &format!("\n## {title}\n\n");
        if !about.is_empty() {
            page += &format!("{about}\n\n");
        }
        match rows {
            Rows::Functions(rows) => {
                let result =
                    if rows.iter().all(|row| row.result == Gives::Nothing) { "Meaning" } else { "Result" };
                page += &format!("| Call | {result} | Example |\n|---|---|---|\n");
                for row in *rows {
                    let value = section.example(row).and_then(|_| values.next()).unwrap_or_default();
                    page += &format!("| {} | {} | {} |\n", calls(row), row.doc, example(row, &value));
                }
            }
            Rows::Names(names) => {
                page.push_str("| Name | Meaning |\n|---|---|\n");
                // Names of one meaning share a line.
                for group in names.chunk_by(|a, b| a.doc == b.doc) {
                    let names: Vec<String> = group.iter().map(|name| format!("`{}`", name.name)).collect();
                    page += &format!("| {} | {} |\n", names.join(" "), group[0].doc);
                }
            }
            Rows::Constants(constants) => {
                page.push_str("| Name | Value |\n|---|---|\n");
                for constant in *constants {
                    let path = format!("`math.{}`", constant.name);
                    let bare = match constant.known {
                        Known::Everywhere => format!("`{}` {path}", constant.name),
                        _ => path,
                    };
                    page += &format!("| {bare} | {} |\n", constant.doc);
                }
            }
        }
    }
    Ok(page)
}

/// The call, under each of the function's names.
fn calls(row: &Row) -> String {
    let call = row.signature();
    let calls = row.names.iter().map(|name| format!("`{}`", call.replacen(row.name(), name, 1)));
    calls.collect::<Vec<_>>().join(" ")
}

fn example(row: &Row, value: &str) -> String {
    match value {
        "" => format!("`{}`", row.example),
        value if row.result == Gives::Nothing || row.example.starts_with("for ") => {
            format!("`{}` prints `{value}`", row.example)
        }
        value => format!("`{}` is `{value}`", row.example),
    }
}

/// What each example prints, in the order of the page.
fn values(program: &Program) -> Result<Vec<String>, Failure> {
    let mut script = PRELUDE.to_owned();
    let mut n_examples = 0;
    for section in SECTIONS {
        let Rows::Functions(rows) = section.rows else { continue };
        for kernel in rows.iter().filter_map(|row| section.example(row)) {
            let (n, args) = (section.setup.local_size, section.setup.args);
            script += &format!("{kernel}\n\nexample[{n}]({args})\nprint(\"{END}\")\n\n\n");
            n_examples += 1;
        }
    }
    let printed = super::printed(program, &script)?;
    let lines = |value: &str| value.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let values: Vec<String> = printed.split_terminator(&format!("{END}\n")).map(lines).collect();
    match values.len() == n_examples {
        true => Ok(values),
        false => Err(Failure(format!("{} of {n_examples} examples ran:\n{printed}", values.len()))),
    }
}
