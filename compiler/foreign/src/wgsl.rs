//! WGSL text to naga's module. What is wrong comes out in our words (`told`), with what to write instead (`limits`).

use kps_syntax::{Diagnostics, Source};
use naga::front::wgsl::Frontend;

mod limits;
mod told;

pub(crate) fn parse(source: &Source) -> Result<naga::Module, Diagnostics> {
    let text = without_enabled_subgroups(source.text());
    Frontend::new().parse(&text).map_err(|error| Diagnostics::from(told::diagnostic(source, &error)))
}

/// naga has the operations of subgroups and refuses `enable subgroups;`, without which nobody else has them: blanks
/// stand in its place, so that all else keeps its own.
fn without_enabled_subgroups(text: &str) -> String {
    const DIRECTIVE: &str = "enable subgroups;";
    text.replace(DIRECTIVE, &" ".repeat(DIRECTIVE.len()))
}
