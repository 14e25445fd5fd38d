//! Recognises texts in languages that kps does not compile. It only looks at texts that failed to compile, so
//! a valid shader is never mistaken for one.

use kps_syntax::{Diagnostic, Source, Span};

use crate::{Language, errors};

/// A language with text that only it has, and a suggestion for users of it.
struct Other {
    name: &'static str,
    marks: &'static [&'static str],
    help: &'static str,
}

const REWRITE: &str = "write it in GLSL, HLSL, WGSL or as a kernel, a function after `@kernel`";

const OTHERS: &[Other] = &[
    Other { name: "CUDA", marks: &["__global__", "__device__", "<<<", "threadIdx"], help: REWRITE },
    Other {
        name: "OpenCL C",
        marks: &["__kernel", "get_global_id(", "__global "],
        help: "compile it with `clspv` and give the SPIR-V, or write it as a kernel",
    },
    Other {
        name: "Metal",
        marks: &["metal_stdlib", "[[buffer(", "[[thread_position_in_grid]]", "[[kernel]]"],
        help: REWRITE,
    },
    Other {
        name: "Slang",
        marks: &["[shader(\"compute\")]"],
        help: "compile it with `slangc -target spirv` and give the SPIR-V",
    },
];

/// HLSL compiles only under its own name.
const HLSL: Other = Other {
    name: "HLSL",
    marks: &["[numthreads(", "RWStructuredBuffer", "SV_DispatchThreadID", "cbuffer "],
    help: "name its file `.hlsl`",
};

/// The diagnostic for a text in one of those languages, at the first word that shows it.
pub fn diagnostic(source: &Source, language: Language) -> Option<Diagnostic> {
    let found = |other: &'static Other| {
        let first = |mark: &&'static str| source.text().find(*mark).map(|at| (at, *mark));
        other.marks.iter().filter_map(first).min().map(|(at, mark)| (other, at, mark))
    };
    let all = OTHERS.iter().chain((language != Language::Hlsl).then_some(&HLSL));
    let (other, at, mark) = all.into_iter().find_map(found)?;
    let span = Span::new(at as u32, (at + mark.trim_end().len()) as u32);
    Some(errors::another_language(other.name, other.help, source.at(span)))
}
