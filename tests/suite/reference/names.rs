//! Checks that pages written by hand list exactly the existing names.

use std::collections::BTreeSet;
use std::path::Path;

use super::{members, page};
use crate::Failure;
use crate::program::Program;

/// The classes of `kp` whose members are on the page.
const CLASSES: [&str; 6] = ["Manager", "Tensor", "Image", "Sampler", "Algorithm", "Sequence"];

pub fn kp(program: &Program) -> Result<(), Failure> {
    let listed = listed(&page("kp.md"))?;
    let mut known = members(program, "kp", "kp")?;
    // Types of kernels are on the page of kernels.
    known.retain(|name| !kps_kernel::is_name(name) && name != "Array");
    for class in CLASSES {
        known.extend(members(program, "kp", &format!("kp.{class}"))?);
    }
    let script = "import kp\n@kernel\ndef k(x: Array[f32]):\n    x[0] = 1.0\n\
                  for name in dir(k):\n    if not name.startswith('_'):\n        print(name)\n";
    known.extend(super::printed(program, script)?.lines().map(str::to_owned));
    let missing: Vec<&String> = known.difference(&listed).collect();
    let unknown: Vec<&String> = listed.difference(&known).collect();
    judge(&missing, &unknown)
}

fn judge(missing: &[&String], unknown: &[&String]) -> Result<(), Failure> {
    match missing.is_empty() && unknown.is_empty() {
        true => Ok(()),
        false => Err(Failure(format!("the page lacks {missing:?}, and there is no {unknown:?}"))),
    }
}

/// The names that the first column of the page's tables has: `name`, `object.name` or `name(..)` in backquotes.
fn listed(page: &Path) -> Result<BTreeSet<String>, Failure> {
    let text = std::fs::read_to_string(page)?;
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let codes = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let name = |code: &str| {
        let code = code.split(['(', '[', '=']).next().unwrap_or_default();
        code.rsplit('.').next().unwrap_or_default().trim_start_matches('@').trim().to_owned()
    };
    Ok(codes.map(name).collect())
}
