//! A kernel after each phase of the compiler, as text for a reader.

use kps_syntax::Diagnostics;

use crate::env::KernelEnv;
use crate::infer::Collect;
use crate::signature::{Signature, Target};
use crate::template::KernelTemplate;
use crate::{disassembly, kernel_types, pipeline};

/// A phase whose result can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The type of each expression and variable, and the mistakes.
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
        Phase::Infer => kernel_types::types_of(template, env, Some(signature)).to_text(),
        Phase::Ir => {
            let inferred = pipeline::inferred(template, env, signature, Collect::Nothing)?;
            match inferred.mistakes.is_empty() {
                true => inferred.kernel.to_text(),
                false => return Err(pipeline::mistakes(inferred)),
            }
        }
        Phase::Ranges => pipeline::typed(template, env, signature, target)?.get().to_text(),
        Phase::Spirv => {
            let module = pipeline::specialize(template, env, signature, target)?;
            disassembly::disassemble(&module.words).expect("our own modules are well-formed") + "\n"
        }
    })
}
