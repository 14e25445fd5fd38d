//! The types in a kernel, for tools and editors: whether or not it has mistakes, and with or without a launch.
//!
//! In goes a template, which may have mistakes; out comes the table of types that inference made, with all mistakes of
//! the kernel. Nothing is compiled.

use std::fmt::Write;

use kps_syntax::{Diagnostic, Diagnostics, Severity, Source, Span};

use crate::builtins::VIEW;
use crate::env::KernelEnv;
use crate::infer::{self, Collect};
use crate::pipeline;
use crate::remark::{self, ExplainedFunction, RemarkKind, RemarkType};
use crate::signature::{Signature, Target};
use crate::structs::MethodKind;
use crate::template::KernelTemplate;
use crate::type_expr::ArrayParam;
use crate::types::Type;

const IMAGE_METHODS: [&str; 3] = ["read", "sample", "write"];

/// The types in a kernel. Made by [`crate::types_of`].
#[derive(Clone, Debug)]
pub struct KernelTypes {
    /// The kernel itself, then the functions that it calls, once for each signature, in the order of the source. Their
    /// remarks are types, conversions and known values.
    pub functions: Vec<ExplainedFunction>,
    /// All mistakes of the kernel, in the order of the source.
    pub mistakes: Diagnostics,
    /// For each function, the mistakes that its signature causes.
    found_in: Vec<Vec<Diagnostic>>,
}

pub(crate) fn types_of(
    template: &KernelTemplate,
    env: &dyn KernelEnv,
    signature: Option<&Signature>,
) -> KernelTypes {
    let mut inferred = match signature {
        Some(signature) if is_launch(template, signature) => {
            infer::infer(template, env, signature, Collect::Types)
        }
        signature => infer::infer_partial(template, env, signature, Collect::Types),
    };
    let (mut functions, mut found_in) = (Vec::new(), Vec::new());
    for mut types in std::mem::take(&mut inferred.types) {
        types.function.remarks.iter_mut().for_each(remark::of_subgroup);
        functions.push(types.function);
        found_in.push(types.mistakes);
    }
    pipeline::lower_and_run_passes(&mut inferred, template, env, &Target::portable());
    let mut mistakes = pipeline::with_mistakes_of(template, pipeline::mistakes(inferred));
    mistakes.0.retain(|found| found.severity == Severity::Error);
    KernelTypes { functions, mistakes, found_in }
}

/// Whether all is known that a launch of the kernel would know.
fn is_launch(template: &KernelTemplate, signature: &Signature) -> bool {
    !template.has_mistakes() && signature.unknown_captures().next().is_none()
}

impl KernelTypes {
    /// The type of the innermost expression or variable at a byte of a source, and where it is written. `None` for
    /// what is wrong, and for what only a launch knows. A function that is called with several signatures has the
    /// types of the first.
    pub fn type_at(&self, source: &Source, offset: u32) -> Option<(Span, &RemarkType)> {
        let functions = self.functions.iter().filter(|function| function.source == *source);
        let typed =
            functions.flat_map(|function| &function.remarks).filter_map(|remark| match &remark.kind {
                RemarkKind::Type(ty) | RemarkKind::Assigned(ty) => Some((remark.span, ty)),
                _ => None,
            });
        let here = typed.filter(|(span, _)| (span.start..span.end).contains(&offset));
        here.min_by_key(|(span, _)| span.end - span.start)
    }

    /// The names that may follow the expression at a byte of a source and a dot: components, members and methods.
    pub fn members_at(&self, source: &Source, offset: u32) -> Vec<String> {
        self.type_at(source, offset).map_or_else(Vec::new, |(_, ty)| members_of(ty))
    }

    /// The lines of each function with the types of what begins there, and the mistakes in their places.
    pub fn to_text(&self) -> String {
        let mut functions: Vec<String> = Vec::with_capacity(self.functions.len());
        for (function, own) in self.functions.iter().zip(&self.found_in) {
            let text = lines_of(function, &self.mistakes_in(function, own));
            // Function arguments make signatures that differ in nothing that is shown.
            if !functions.contains(&text) {
                functions.push(text);
            }
        }
        let elsewhere = self
            .mistakes
            .iter()
            .filter(|mistake| !self.functions.iter().any(|function| is_in(mistake, function)));
        for mistake in elsewhere {
            functions.push(match mistake.location() {
                Some(at) => {
                    let (name, line) = (at.source.name(), at.source.line(at.span.start));
                    format!("# {name}:{line}: {}\n", remark_on(mistake))
                }
                None => format!("# {}\n", remark_on(mistake)),
            });
        }
        functions.join("\n")
    }

    /// The mistakes in a function, except those that other signatures of it cause.
    fn mistakes_in<'s>(&'s self, function: &ExplainedFunction, own: &[Diagnostic]) -> Vec<&'s Diagnostic> {
        let is_shown = |mistake: &&Diagnostic| {
            let is_of = |found: &[Diagnostic]| found.iter().any(|known| is_same(known, mistake));
            is_in(mistake, function) && (is_of(own) || !self.found_in.iter().any(|found| is_of(found)))
        };
        self.mistakes.iter().filter(is_shown).collect()
    }
}

fn members_of(ty: &RemarkType) -> Vec<String> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    match ty {
        RemarkType::Value(Type::Vector(n, _)) => owned(&["x", "y", "z", "w"][..usize::from(*n)]),
        RemarkType::Value(Type::Matrix { .. }) => owned(&["T", "shape"]),
        RemarkType::Value(Type::Struct(of)) => {
            let members = of.members.iter().map(|member| &member.name);
            let methods = of.methods.iter().filter(|method| method.kind != MethodKind::Setter);
            members.chain(methods.map(|method| &method.name)).map(|name| name.to_string()).collect()
        }
        RemarkType::Value(Type::Array(_)) => owned(&ArrayParam::ATTRIBUTES),
        RemarkType::Array(_) => owned(&[&ArrayParam::ATTRIBUTES[..], &[VIEW]].concat()),
        RemarkType::Image(_) => owned(&[&ArrayParam::ATTRIBUTES[..], &IMAGE_METHODS].concat()),
        RemarkType::Value(_) | RemarkType::Weak(_) | RemarkType::Sampler | RemarkType::Function => Vec::new(),
    }
}

fn is_same(a: &Diagnostic, b: &Diagnostic) -> bool {
    (a.location(), &a.message) == (b.location(), &b.message)
}

fn is_in(mistake: &Diagnostic, function: &ExplainedFunction) -> bool {
    let lines = function.header.start..=function.span.end;
    mistake.location().is_some_and(|at| at.source == function.source && lines.contains(&at.span.start))
}

/// The lines of a function, each with the types of what begins there, and with the mistakes there.
fn lines_of(function: &ExplainedFunction, mistakes: &[&Diagnostic]) -> String {
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
            let _ = writeln!(text, "    # {}: {ty}", in_one_line(source.slice(remark.span)));
        }
        for mistake in mistakes {
            let Some(at) = mistake.location().filter(|at| source.line(at.span.start) == line) else {
                continue;
            };
            let _ = writeln!(text, "    # {}: {}", in_one_line(source.slice(at.span)), remark_on(mistake));
        }
    }
    text
}

fn remark_on(mistake: &Diagnostic) -> String {
    format!("error: {}", mistake.message)
}

/// The first line of an expression.
fn in_one_line(code: &str) -> String {
    match code.split_once('\n') {
        Some((first, _)) => format!("{} ..", first.trim_end()),
        None => code.to_owned(),
    }
}
