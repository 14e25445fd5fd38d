//! A kernel after each phase of the compiler, as text for a reader.

use std::fmt::Write;

use kps_syntax::Diagnostics;

use crate::env::KernelEnv;
use crate::explain::{self, ExplainedFunction};
use crate::remark::RemarkKind;
use crate::signature::{Signature, Target};
use crate::template::KernelTemplate;
use crate::{disassembly, infer};

/// A phase whose result can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The type of each expression and variable.
    Infer,
    /// The typed IR as it is inferred.
    Ir,
    /// The IR after all passes: indices that are proven to be in range are marked.
    Ranges,
    /// The words of the module, disassembled.
    Spirv,
}

impl Phase {
    /// All of them, in the order in which they run.
    pub const ALL: [Phase; 4] = [Phase::Infer, Phase::Ir, Phase::Ranges, Phase::Spirv];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Infer => "infer",
            Phase::Ir => "ir",
            Phase::Ranges => "ranges",
            Phase::Spirv => "spirv",
        }
    }
}

/// Compiles a kernel up to a phase, and gives what that made of it.
pub(crate) fn text_after(
    phase: Phase,
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: &Signature,
    target: &Target,
) -> Result<String, Diagnostics> {
    Ok(match phase {
        Phase::Infer => {
            let explained = explain::explain(template, env, signature, target)?;
            let types: Vec<String> = explained.functions.iter().map(types_of).collect();
            types.join("\n")
        }
        Phase::Ir => {
            let inferred = infer::infer(template, env, signature, target);
            match inferred.mistakes.is_empty() {
                true => inferred.kernel.to_text(),
                false => return Err(crate::mistakes(inferred)),
            }
        }
        Phase::Ranges => crate::typed(template, env, signature, target)?.get().to_text(),
        Phase::Spirv => {
            let module = crate::specialize(template, env, signature, target)?;
            disassembly::disassemble(&module.words).expect("our own modules are well-formed") + "\n"
        }
    })
}

/// The lines of a function, each with the types of what begins there.
fn types_of(function: &ExplainedFunction) -> String {
    let source = &function.source;
    let (first, last) = (source.line(function.header.start), source.line(function.span.end));
    let mut text = String::new();
    for line in first..=last {
        let _ = writeln!(text, "{}", source.line_text(line));
        let here = function.remarks.iter().filter(|remark| source.line(remark.span.start) == line);
        for remark in here {
            let ty = match &remark.kind {
                RemarkKind::Type(ty) | RemarkKind::Assigned(ty) => ty.to_string(),
                RemarkKind::Converted { from, to } => format!("{from} converted to {to}"),
                RemarkKind::Taken(scalar) => format!("a literal taken as {scalar}"),
                RemarkKind::ComputedIn { wide, .. } => format!("computed in {wide}"),
                _ => continue,
            };
            let _ = writeln!(text, "    # {}: {ty}", source.slice(remark.span));
        }
    }
    text
}
