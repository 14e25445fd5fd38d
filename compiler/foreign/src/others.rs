//! Texts in languages that are translated nowhere here: looked for only where a text is no GLSL and no WGSL, so what
//! compiles is never taken for one of them.

use kps_syntax::{Diagnostic, Source, Span};

use crate::errors;

/// A language by what only it writes, and what makes SPIR-V of it.
struct Other {
    name: &'static str,
    marks: &'static [&'static str],
    compiler: Option<&'static str>,
}

const OTHERS: &[Other] = &[
    Other { name: "CUDA", marks: &["__global__", "__device__", "<<<", "threadIdx"], compiler: None },
    Other { name: "OpenCL C", marks: &["__kernel", "get_global_id(", "__global "], compiler: Some("clspv") },
    Other {
        name: "Metal",
        marks: &["metal_stdlib", "[[buffer(", "[[thread_position_in_grid]]", "[[kernel]]"],
        compiler: None,
    },
    Other { name: "Slang", marks: &["[shader(\"compute\")]"], compiler: Some("slangc") },
    Other {
        name: "HLSL",
        marks: &["[numthreads(", "RWStructuredBuffer", "SV_DispatchThreadID", "cbuffer "],
        compiler: Some("dxc -spirv"),
    },
];

/// What to say of a text in one of those languages, at the first word that tells.
pub fn told(source: &Source) -> Option<Diagnostic> {
    let found = |other: &'static Other| {
        let first = |mark: &&'static str| source.text().find(*mark).map(|at| (at, *mark));
        other.marks.iter().filter_map(first).min().map(|(at, mark)| (other, at, mark))
    };
    let (other, at, mark) = OTHERS.iter().find_map(found)?;
    let span = Span::new(at as u32, (at + mark.trim_end().len()) as u32);
    Some(errors::another_language(other.name, other.compiler, source.at(span)))
}
